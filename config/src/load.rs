//! From the text of a gate file to a checked [`GateFile`], or to everything that is wrong with it.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;

use crate::diagnostics::{Diagnostic, Diagnostics, listing, nearest};
use crate::expr::{self, ASKED, Scope};
use crate::literal::Literal;
use crate::model::{Assumption, Cond, Feature, Gate, GateFile, Hazard, Must, OptionDef, Question, Resolver, Target};
use crate::raw::{RawFile, RawMust, RawOption, RawOptionTable};
use crate::value::Value;

/// The longest file, in bytes.
const MAX_FILE: usize = 4 << 20;
/// The most options.
const MAX_OPTIONS: usize = 500;
/// The most values of one option. Beyond that an option is a number to be cut into classes ("1", "2 to 8", "more").
const MAX_VALUES: usize = 256;
/// The most gates, resolvers, features, unsafe paths and musts, each.
const MAX_ENTRIES: usize = 2_000;
/// Words that the expression language keeps for itself.
const RESERVED: [&str; 19] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
];

/// Reads and checks the file at `path`.
pub fn load(path: impl AsRef<std::path::Path>) -> Result<GateFile, Diagnostics> {
    let path = path.as_ref();
    let shown = path.display().to_string();
    let unreadable = |message: String, expected: &str| {
        let item = Diagnostic { message, span: None, expected: expected.to_owned(), help: None };
        Diagnostics::new(&shown, "", vec![item])
    };
    let size = std::fs::metadata(path)
        .map_err(|error| unreadable(format!("the file cannot be read: {error}"), "a gate file in TOML"))?
        .len();
    if size > MAX_FILE as u64 {
        return Err(unreadable(
            format!("the file has {size} bytes"),
            &format!("at most {MAX_FILE} bytes; options with very many values are cut into classes"),
        ));
    }
    let bytes = std::fs::read(path)
        .map_err(|error| unreadable(format!("the file cannot be read: {error}"), "a gate file in TOML"))?;
    let text = String::from_utf8(bytes)
        .map_err(|error| unreadable(format!("the file is not text: {error}"), "a gate file in TOML, in UTF-8"))?;
    parse(&shown, &text)
}

/// Checks the text of a gate file; `path` only names it in messages.
pub fn parse(path: &str, text: &str) -> Result<GateFile, Diagnostics> {
    let raw: RawFile = match toml::from_str(text) {
        Ok(raw) => raw,
        Err(error) => return Err(Diagnostics::new(path, text, vec![toml_error(&error)])),
    };
    let mut loader = Loader { text, options: Vec::new(), errors: Vec::new() };
    let mut raw = raw;
    loader.options(raw.options.take());
    // A wrong option would make every condition that reads it look wrong as well.
    let file = loader.errors.is_empty().then(|| loader.file(path, raw));
    match file {
        Some(file) if loader.errors.is_empty() => Ok(file),
        _ => Err(Diagnostics::new(path, text, loader.errors)),
    }
}

/// A TOML or shape error; an unknown key gets the nearest known one.
fn toml_error(error: &toml::de::Error) -> Diagnostic {
    let message = error.message();
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let span = error.span().unwrap_or(0..0);
    match (message.split_once(", expected "), quoted.as_slice()) {
        (Some((found, _)), [name, known @ ..]) if found.starts_with("unknown field") => Diagnostic::at(
            span,
            format!("there is no key `{name}` here"),
            format!("one of {}", listing(known.iter().map(|known| format!("`{known}`")))),
        )
        .help(nearest(name, known.iter().copied())),
        (Some((found, expected)), _) => Diagnostic::at(span, found, expected),
        (None, [name]) if message.starts_with("missing field") => {
            Diagnostic::at(span, format!("the key `{name}` is missing"), format!("`{name} = …`"))
        }
        _ => Diagnostic::at(span, message, "a gate file in TOML"),
    }
}

struct Loader<'a> {
    text: &'a str,
    options: Vec<OptionDef>,
    errors: Vec<Diagnostic>,
}

impl Loader<'_> {
    fn file(&mut self, path: &str, raw: RawFile) -> GateFile {
        self.count("[[assume]]", raw.assume.len());
        self.count("[[resolver]]", raw.resolver.len());
        self.count("[[gate]]", raw.gate.len());
        self.count("[[feature]]", raw.feature.len());
        self.count("[[unsafe]]", raw.hazard.len());
        self.count("[[must]]", raw.must.len());
        let mut names = BTreeMap::new();
        let assumptions = raw
            .assume
            .into_iter()
            .filter_map(|raw| {
                let because = raw.because.map_or_else(String::new, |because| format!(": {because}"));
                let text = format!("`{}`{because}", one_line(raw.holds.get_ref()));
                Some(Assumption { holds: self.condition(&raw.holds, Scope::Asked)?, text })
            })
            .collect();
        let mut resolvers: Vec<Resolver> = Vec::new();
        for raw in raw.resolver {
            let name = self.name(&mut names, "resolver", &raw.name);
            if raw.set.get_ref().is_empty() {
                self.errors.push(Diagnostic::at(
                    raw.set.span(),
                    format!("resolver `{name}` sets nothing"),
                    "at least one option: `set = { option = value }`",
                ));
            }
            let set = self.settings(raw.set.into_inner());
            let when = match raw.when {
                Some(when) => self.condition(&when, Scope::InForce).unwrap_or(Cond::Const(true)),
                None => Cond::Const(true),
            };
            resolvers.push(Resolver { name, when, set, source: raw.source });
        }
        let mut gates = Vec::new();
        for raw in raw.gate {
            let name = self.name(&mut names, "gate", &raw.name);
            let recommends = self.settings(raw.recommends.unwrap_or_default());
            let stage = match raw.before {
                Some(before) => {
                    self.position("resolver", &before, resolvers.iter().map(|resolver| resolver.name.as_str()))
                }
                None => Some(resolvers.len()),
            };
            let rejects = self.condition(&raw.rejects, Scope::InForce);
            if let (Some(rejects), Some(stage)) = (rejects, stage) {
                gates.push(Gate { name, rejects, message: raw.message, source: raw.source, recommends, stage });
            }
        }
        let mut features: Vec<Feature> = Vec::new();
        for raw in raw.feature {
            let name = self.name(&mut names, "feature", &raw.name);
            let runs = self.condition(&raw.runs, Scope::InForce).unwrap_or(Cond::Const(true));
            let wanted = match raw.wanted {
                Some(wanted) => self.condition(&wanted, Scope::Asked).unwrap_or(Cond::Const(true)),
                None => runs.clone(),
            };
            features.push(Feature { name, runs, wanted, source: raw.source });
        }
        let mut hazards: Vec<Hazard> = Vec::new();
        for raw in raw.hazard {
            let name = self.name(&mut names, "unsafe path", &raw.name);
            let when = self.condition(&raw.when, Scope::InForce).unwrap_or(Cond::Const(true));
            hazards.push(Hazard { name, when, why: raw.why, source: raw.source });
        }
        let mut musts = Vec::new();
        for raw in raw.must {
            musts.extend(self.must(raw, &mut names, &features, &hazards));
        }
        GateFile {
            path: path.to_owned(),
            name: raw.name.unwrap_or_else(|| {
                let stem = std::path::Path::new(path).file_stem();
                stem.map_or_else(|| path.to_owned(), |stem| stem.to_string_lossy().into_owned())
            }),
            about: raw.about,
            source: raw.source,
            baseline: raw.baseline,
            options: std::mem::take(&mut self.options),
            assumptions,
            resolvers,
            gates,
            features,
            hazards,
            musts,
        }
    }

    fn count(&mut self, what: &str, found: usize) {
        if found > MAX_ENTRIES {
            self.errors.push(Diagnostic::at(
                0..0,
                format!("the file has {found} {what} tables"),
                format!("at most {MAX_ENTRIES}"),
            ));
        }
    }

    /// Checks the options, in the order of the file (the parser hands them over by name).
    fn options(&mut self, raw: Option<BTreeMap<Spanned<String>, Spanned<RawOption>>>) {
        let mut entries: Vec<(Spanned<String>, Spanned<RawOption>)> = raw.into_iter().flatten().collect();
        entries.sort_by_key(|(name, _)| name.span().start);
        if entries.is_empty() {
            self.errors.push(Diagnostic::at(
                0..0,
                "the file has no options",
                "an [options] table: `flag = false`, or `policy = { values = [\"a\", \"b\"], default = \"a\" }`",
            ));
        }
        if let Some((name, _)) = entries.get(MAX_OPTIONS) {
            let message = format!("the file has {} options", entries.len());
            self.errors.push(Diagnostic::at(name.span(), message, format!("at most {MAX_OPTIONS}")));
            return;
        }
        for (name, raw) in entries {
            let place = name.span();
            let name = name.into_inner();
            if !is_identifier(&name) {
                let better: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
                self.errors.push(
                    Diagnostic::at(
                        place.clone(),
                        format!("`{name}` cannot be used in a condition"),
                        format!(
                            "letters, digits and `_`, not starting with a digit, and not a reserved word or `{ASKED}`"
                        ),
                    )
                    .help(is_identifier(&better).then(|| format!("call it `{better}`"))),
                );
            }
            let span = raw.span();
            match raw.into_inner() {
                RawOption::Flag(default) => self.options.push(OptionDef {
                    name,
                    values: vec![Value::Bool(false), Value::Bool(true)],
                    default: usize::from(default),
                    auto: None,
                    model: false,
                }),
                RawOption::Table(table) => self.option_table(name, place, span, *table),
            }
        }
    }

    fn option_table(&mut self, name: String, place: Range<usize>, span: Range<usize>, table: RawOptionTable) {
        let flag = matches!(table.default.as_ref().map(Spanned::get_ref), Some(Value::Bool(_)));
        let (values_at, values) = match table.values {
            Some(values) => (values.span(), values.into_inner()),
            // A table with a default of true or false is a flag with a comment.
            None if flag => (span.clone(), [false, true].map(|v| Spanned::new(span.clone(), Value::Bool(v))).into()),
            None => {
                self.errors.push(Diagnostic::at(
                    place,
                    format!("option `{name}` has no values"),
                    "`values = [\"a\", \"b\"]`",
                ));
                return;
            }
        };
        if values.is_empty() || values.len() > MAX_VALUES {
            self.errors.push(Diagnostic::at(
                values_at,
                format!("option `{name}` has {} values", values.len()),
                format!("1 to {MAX_VALUES} values; cut a wider range into the classes that the gates tell apart"),
            ));
            return;
        }
        let mut known: Vec<Value> = Vec::new();
        for value in &values {
            let wrong = if known.contains(value.get_ref()) {
                Some(("is there twice", "each value once".to_owned()))
            } else if known.first().is_some_and(|first| first.kind() != value.get_ref().kind()) {
                Some(("has another type than the first value", format!("{}", known[0].kind())))
            } else {
                None
            };
            match wrong {
                Some((what, expected)) => {
                    let message = format!("the value {} of `{name}` {what}", value.get_ref());
                    self.errors.push(Diagnostic::at(value.span(), message, expected));
                }
                None => known.push(value.get_ref().clone()),
            }
        }
        let mut option = OptionDef { name, values: known, default: 0, auto: None, model: table.model };
        match table.default {
            Some(default) => option.default = self.value_of(&option, &default).unwrap_or(0),
            None => {
                let message = format!("option `{}` has no default", option.name);
                let expected = format!("`default = {}`, or another of its values", option.values[0]);
                self.errors.push(Diagnostic::at(place, message, expected));
            }
        }
        option.auto = match table.auto {
            Some(auto) => self.value_of(&option, &auto),
            None => option.index_of(&Value::Text("auto".to_owned())),
        };
        self.options.push(option);
    }

    fn value_of(&mut self, option: &OptionDef, value: &Spanned<Value>) -> Option<usize> {
        let found = option.index_of(value.get_ref());
        if found.is_none() {
            let texts: Vec<String> = option.values.iter().map(|value| value.to_string()).collect();
            self.errors.push(
                Diagnostic::at(
                    value.span(),
                    format!("`{}` has no value {}", option.name, value.get_ref()),
                    format!("one of {}", listing(&texts)),
                )
                .help(nearest(&value.get_ref().to_string(), texts.iter().map(String::as_str))),
            );
        }
        found
    }

    /// `{ option = value, … }`, in the order of the file.
    fn settings(&mut self, raw: BTreeMap<Spanned<String>, Spanned<Value>>) -> Vec<(usize, usize)> {
        let mut entries: Vec<(Spanned<String>, Spanned<Value>)> = raw.into_iter().collect();
        entries.sort_by_key(|(name, _)| name.span().start);
        let mut settings = Vec::new();
        for (name, value) in entries {
            let Some(index) = self.options.iter().position(|option| option.name == *name.get_ref()) else {
                self.unknown("option", &name, self.options.iter().map(|option| option.name.clone()).collect());
                continue;
            };
            let option = self.options[index].clone();
            if option.model {
                let message = format!("`{}` is a property of the model, which nothing sets", option.name);
                self.errors.push(Diagnostic::at(name.span(), message, "an option that a person or a resolver can set"));
            }
            settings.extend(self.value_of(&option, &value).map(|value| (index, value)));
        }
        settings
    }

    fn condition(&mut self, raw: &Spanned<String>, scope: Scope) -> Option<Cond> {
        let literal = Literal::new(self.text, raw.span(), raw.get_ref());
        match expr::check(&literal, &self.options, scope) {
            Ok(cond) => Some(cond),
            Err(error) => {
                self.errors.push(error);
                None
            }
        }
    }

    /// Checks that a name is not taken by another entry of its kind.
    fn name(
        &mut self,
        names: &mut BTreeMap<(&'static str, String), ()>,
        kind: &'static str,
        name: &Spanned<String>,
    ) -> String {
        let text = name.get_ref().clone();
        if text.trim().is_empty() {
            self.errors.push(Diagnostic::at(name.span(), format!("this {kind} has an empty name"), "a name"));
        } else if names.insert((kind, text.clone()), ()).is_some() {
            let message = format!("there are two entries of kind {kind} with the name `{text}`");
            self.errors.push(Diagnostic::at(name.span(), message, "a name of its own"));
        }
        text
    }

    fn position<'n>(
        &mut self,
        kind: &str,
        name: &Spanned<String>,
        known: impl Iterator<Item = &'n str> + Clone,
    ) -> Option<usize> {
        let found = known.clone().position(|known| known == name.get_ref());
        if found.is_none() {
            self.unknown(kind, name, known.map(str::to_owned).collect());
        }
        found
    }

    fn unknown(&mut self, kind: &str, name: &Spanned<String>, known: Vec<String>) {
        self.errors.push(
            Diagnostic::at(
                name.span(),
                format!("there is no {kind} `{}`", name.get_ref()),
                format!("one of {}", listing(known.iter().map(|known| format!("`{known}`")))),
            )
            .help(nearest(name.get_ref(), known.iter().map(String::as_str))),
        );
    }

    fn must(
        &mut self,
        raw: Spanned<RawMust>,
        names: &mut BTreeMap<(&'static str, String), ()>,
        features: &[Feature],
        hazards: &[Hazard],
    ) -> Option<Must> {
        let place = raw.span();
        let raw = raw.into_inner();
        let asked = [&raw.reachable, &raw.unreachable, &raw.accepts, &raw.rejects, &raw.no_new_rejections_without]
            .into_iter()
            .filter(|question| question.is_some())
            .count();
        if asked != 1 {
            self.errors.push(Diagnostic::at(
                place,
                format!("this must asks {asked} questions"),
                "exactly one of `reachable`, `unreachable`, `accepts`, `rejects` and `no_new_rejections_without`",
            ));
            return None;
        }
        let (default_name, question) = if let Some(name) = &raw.reachable {
            (format!("{} is reachable", name.get_ref()), Question::Reachable(self.target(name, features, hazards)?))
        } else if let Some(name) = &raw.unreachable {
            (format!("{} is unreachable", name.get_ref()), Question::Unreachable(self.target(name, features, hazards)?))
        } else if let Some(cond) = &raw.accepts {
            (format!("accepts {}", one_line(cond.get_ref())), Question::Accepts(self.condition(cond, Scope::InForce)?))
        } else if let Some(cond) = &raw.rejects {
            (format!("rejects {}", one_line(cond.get_ref())), Question::Rejects(self.condition(cond, Scope::InForce)?))
        } else {
            let name = raw.no_new_rejections_without.as_ref()?;
            let known = features.iter().map(|feature| feature.name.as_str());
            let index = self.position("feature", name, known)?;
            (format!("no new rejections without {}", name.get_ref()), Question::NoNewRejectionsWithout(index))
        };
        let name = match &raw.name {
            Some(name) => self.name(names, "must", name),
            None => default_name,
        };
        let expect = match raw.expect.as_ref().map(|expect| (expect.get_ref().as_str(), expect.span())) {
            None | Some(("yes", _)) => true,
            Some(("no", _)) => false,
            Some((other, span)) => {
                self.errors.push(Diagnostic::at(span, format!("`expect` is {other:?}"), "\"yes\" or \"no\""));
                return None;
            }
        };
        Some(Must { name, question, expect, because: raw.because })
    }

    fn target(&mut self, name: &Spanned<String>, features: &[Feature], hazards: &[Hazard]) -> Option<Target> {
        let feature = features.iter().position(|feature| feature.name == *name.get_ref());
        let hazard = hazards.iter().position(|hazard| hazard.name == *name.get_ref());
        let found = feature.map(Target::Feature).or(hazard.map(Target::Hazard));
        if found.is_none() {
            let known = features.iter().map(|feature| feature.name.clone());
            let known = known.chain(hazards.iter().map(|hazard| hazard.name.clone())).collect();
            self.unknown("feature or unsafe path", name, known);
        }
        found
    }
}

fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !RESERVED.contains(&name)
        && name != ASKED
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
