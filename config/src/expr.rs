//! Conditions: the Common Expression Language, type-checked against the options and reduced to tests of them.
//!
//! An option has finitely many values, so every comparison becomes "the option has one of these values", and
//! arithmetic over several options becomes a table of their combinations. What CEL offers beyond that (maps, macros,
//! floating point, presence tests) has no meaning for an option and is refused by name.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use cel::IdedExpr;
use cel::common::ast::{CallExpr, Expr, LiteralValue, SourceInfo, operators};
use cel::parser::Parser;

use crate::diagnostics::{Diagnostic, listing, nearest};
use crate::literal::Literal;
use crate::model::{Cond, OptionDef, Var};
use crate::value::{Kind, Value};

/// The longest condition, in bytes: enough for any real check, small enough to parse at once.
const MAX_LENGTH: usize = 8_192;
/// The deepest nesting of a condition.
const MAX_DEPTH: usize = 100;
/// The most combinations of values that one arithmetic expression or comparison may have.
const MAX_COMBINATIONS: usize = 4_096;
/// The name that stands for the configuration as it was asked for.
pub(crate) const ASKED: &str = "asked";

/// What a plain option name means in a condition.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The value in force after the resolvers so far.
    InForce,
    /// The value that was asked for.
    Asked,
}

/// Parses and checks a condition.
pub(crate) fn check(literal: &Literal, options: &[OptionDef], scope: Scope) -> Result<Cond, Diagnostic> {
    let text = &literal.text;
    if text.len() > MAX_LENGTH {
        return Err(Diagnostic::at(
            literal.span.clone(),
            format!("this condition has {} bytes", text.len()),
            format!("at most {MAX_LENGTH} bytes; split the gate"),
        ));
    }
    let (tree, places) = Parser::default()
        .max_recursion_depth(MAX_DEPTH as u16)
        .parse_with_source_info(text)
        .map_err(|errors| syntax_error(literal, &errors))?;
    let checker = Checker { literal, places, options, scope };
    let typed = checker.expression(&tree, 0)?;
    checker.boolean(typed, &tree)
}

fn syntax_error(literal: &Literal, errors: &cel::ParseErrors) -> Diagnostic {
    const EXPECTED: &str = "a condition in the Common Expression Language, such as `a && b == \"x\"`";
    let Some(first) = errors.errors.first() else {
        return Diagnostic::at(literal.span.clone(), "this condition cannot be parsed", EXPECTED);
    };
    let (line, column) = (first.pos.0.max(1) as usize, first.pos.1.max(1) as usize);
    let found = first.msg.trim_start_matches("Syntax error: ");
    // The parser lists every token kind it could have gone on with; nobody reads that.
    let found = found.split(" expecting {").next().unwrap_or(found);
    let help = found.contains("token recognition error at: '=").then(|| "compare with `==`".to_owned());
    Diagnostic::at(
        literal.locate_line_column(line, column),
        format!("this condition cannot be parsed: {found}"),
        EXPECTED,
    )
    .help(help)
}

/// What an expression can be.
enum Typed {
    Bool(Cond),
    /// Each possible value and when the expression has it.
    Scalar {
        kind: Kind,
        cases: Vec<(Value, Cond)>,
        /// The option, if the expression is nothing but one.
        option: Option<usize>,
    },
}

struct Checker<'a> {
    literal: &'a Literal,
    places: SourceInfo,
    options: &'a [OptionDef],
    scope: Scope,
}

type Checked<T> = Result<T, Diagnostic>;

impl Checker<'_> {
    fn expression(&self, node: &IdedExpr, depth: usize) -> Checked<Typed> {
        if depth > MAX_DEPTH {
            return Err(self.error(node, "this condition is nested too deeply", format!("at most {MAX_DEPTH} levels")));
        }
        match &node.expr {
            Expr::Ident(name) => self.option(node, name, self.scope == Scope::Asked),
            Expr::Select(select) if !select.test => match &select.operand.expr {
                Expr::Ident(root) if root == ASKED => self.option(node, &select.field, true),
                _ => Err(self
                    .error(node, "options have no fields", "an option's name, or `asked.` and an option's name")
                    .help(Some("text is written in quotes: \"a.b\"".to_owned()))),
            },
            Expr::Literal(value) => self.value(node, value),
            Expr::Call(call) => self.call(node, call, depth + 1),
            Expr::List(_) => {
                Err(self.error(node, "a list on its own is not a condition", "`option in [\"a\", \"b\"]`"))
            }
            Expr::Comprehension(_) => Err(self.error(
                node,
                "macros such as `all` and `exists` are not supported",
                "`option in [\"a\", \"b\"]`",
            )),
            _ => Err(self.error(node, "this has no meaning for options", "tests of options, joined by &&, || and !")),
        }
    }

    fn option(&self, node: &IdedExpr, name: &str, asked: bool) -> Checked<Typed> {
        let Some(option) = self.options.iter().position(|option| option.name == name) else {
            return Err(self.unknown_name(node, name));
        };
        let var = Var { option, asked };
        let definition = &self.options[option];
        if definition.kind() == Kind::Bool {
            let set = definition.index_of(&Value::Bool(true)).into_iter().collect();
            return Ok(Typed::Bool(test(var, set)));
        }
        Ok(Typed::Scalar {
            kind: definition.kind(),
            cases: definition
                .values
                .iter()
                .enumerate()
                .map(|(index, value)| (value.clone(), test(var, BTreeSet::from([index]))))
                .collect(),
            option: Some(option),
        })
    }

    fn unknown_name(&self, node: &IdedExpr, name: &str) -> Diagnostic {
        let owner = self.options.iter().find(|option| option.index_of(&Value::Text(name.to_owned())).is_some());
        let known = self.options.iter().map(|option| option.name.as_str());
        let help = match owner {
            Some(owner) => Some(format!("`{name}` is a value of `{}`: write it in quotes, \"{name}\"", owner.name)),
            None => nearest(name, known.clone().chain([ASKED])),
        };
        self.error(
            node,
            format!("there is no option `{name}`"),
            format!("one of {}", listing(known.map(|name| format!("`{name}`")))),
        )
        .help(help)
    }

    fn value(&self, node: &IdedExpr, value: &LiteralValue) -> Checked<Typed> {
        let value = match value {
            LiteralValue::Boolean(value) => return Ok(Typed::Bool(Cond::Const(*value.inner()))),
            LiteralValue::Int(value) => Value::Int(*value.inner()),
            LiteralValue::String(value) => Value::Text(value.inner().to_owned()),
            _ => {
                return Err(self.error(
                    node,
                    "options have no values of this type",
                    "true, false, a whole number or text in quotes",
                ));
            }
        };
        Ok(Typed::Scalar { kind: value.kind(), cases: vec![(value, Cond::Const(true))], option: None })
    }

    fn call(&self, node: &IdedExpr, call: &CallExpr, depth: usize) -> Checked<Typed> {
        if let Some(target) = &call.target {
            return self.text_test(node, call, target, depth);
        }
        match (call.func_name.as_str(), call.args.as_slice()) {
            (operators::LOGICAL_NOT, [arg]) => Ok(Typed::Bool(not(self.condition(arg, depth)?))),
            (operators::LOGICAL_AND, args) => Ok(Typed::Bool(all(self.conditions(args, depth)?))),
            (operators::LOGICAL_OR, args) => Ok(Typed::Bool(any(self.conditions(args, depth)?))),
            (operators::CONDITIONAL, [when, then, otherwise]) => self.choice(node, when, then, otherwise, depth),
            (operators::EQUALS, [left, right]) => Ok(Typed::Bool(self.equal(node, left, right, depth)?)),
            (operators::NOT_EQUALS, [left, right]) => Ok(Typed::Bool(not(self.equal(node, left, right, depth)?))),
            (operators::IN, [item, list]) => self.member(node, item, list, depth),
            (operators::LESS, [left, right]) => self.order(node, left, right, depth, |l, r| l < r),
            (operators::LESS_EQUALS, [left, right]) => self.order(node, left, right, depth, |l, r| l <= r),
            (operators::GREATER, [left, right]) => self.order(node, left, right, depth, |l, r| l > r),
            (operators::GREATER_EQUALS, [left, right]) => self.order(node, left, right, depth, |l, r| l >= r),
            (operators::NEGATE, [arg]) => self.arithmetic(node, &[arg], depth, |v| v[0].checked_neg()),
            (operators::ADD, [a, b]) => self.arithmetic(node, &[a, b], depth, |v| v[0].checked_add(v[1])),
            (operators::SUBSTRACT, [a, b]) => self.arithmetic(node, &[a, b], depth, |v| v[0].checked_sub(v[1])),
            (operators::MULTIPLY, [a, b]) => self.arithmetic(node, &[a, b], depth, |v| v[0].checked_mul(v[1])),
            (operators::DIVIDE, [a, b]) => self.arithmetic(node, &[a, b], depth, |v| v[0].checked_div(v[1])),
            (operators::MODULO, [a, b]) => self.arithmetic(node, &[a, b], depth, |v| v[0].checked_rem(v[1])),
            (name, _) => Err(self
                .error(
                    node,
                    format!("`{}` is not supported here", name.trim_matches('_')),
                    "&&, ||, !, ==, !=, <, <=, >, >=, in, ? :, +, -, *, /, %, startsWith, endsWith, contains",
                )
                .help(nearest(name, ["startsWith", "endsWith", "contains"]))),
        }
    }

    fn condition(&self, node: &IdedExpr, depth: usize) -> Checked<Cond> {
        let typed = self.expression(node, depth)?;
        self.boolean(typed, node)
    }

    fn conditions(&self, nodes: &[IdedExpr], depth: usize) -> Checked<Vec<Cond>> {
        nodes.iter().map(|node| self.condition(node, depth)).collect()
    }

    fn boolean(&self, typed: Typed, node: &IdedExpr) -> Checked<Cond> {
        match typed {
            Typed::Bool(cond) => Ok(cond),
            Typed::Scalar { kind, option, .. } => {
                let help = option.map(|option| {
                    let option = &self.options[option];
                    format!("compare it: `{} == {}`", option.name, option.values[option.default])
                });
                Err(self
                    .error(node, format!("this is {kind}, not a condition"), "something that is true or false")
                    .help(help))
            }
        }
    }

    fn choice(
        &self,
        node: &IdedExpr,
        when: &IdedExpr,
        then: &IdedExpr,
        otherwise: &IdedExpr,
        depth: usize,
    ) -> Checked<Typed> {
        let when = self.condition(when, depth)?;
        let (left, right) = (self.expression(then, depth)?, self.expression(otherwise, depth)?);
        match (left, right) {
            (Typed::Bool(left), Typed::Bool(right)) => {
                Ok(Typed::Bool(any(vec![all(vec![when.clone(), left]), all(vec![not(when), right])])))
            }
            (Typed::Scalar { kind, cases: left, .. }, Typed::Scalar { kind: other, cases: right, .. })
                if kind == other =>
            {
                let left = left.into_iter().map(|(value, cond)| (value, all(vec![when.clone(), cond])));
                let right = right.into_iter().map(|(value, cond)| (value, all(vec![not(when.clone()), cond])));
                Ok(Typed::Scalar { kind, cases: merge(left.chain(right)), option: None })
            }
            _ => Err(self.error(node, "the two branches have different types", "the same type on both sides of `:`")),
        }
    }

    fn equal(&self, node: &IdedExpr, left: &IdedExpr, right: &IdedExpr, depth: usize) -> Checked<Cond> {
        match (self.expression(left, depth)?, self.expression(right, depth)?) {
            (Typed::Bool(a), Typed::Bool(b)) => Ok(match (a, b) {
                (Cond::Const(true), other) | (other, Cond::Const(true)) => other,
                (Cond::Const(false), other) | (other, Cond::Const(false)) => not(other),
                (a, b) => any(vec![all(vec![a.clone(), b.clone()]), all(vec![not(a), not(b)])]),
            }),
            (
                Typed::Scalar { kind, cases: a, option: left_option },
                Typed::Scalar { kind: other, cases: b, option: right_option },
            ) if kind == other => {
                self.value_of(left_option, &b, right)?;
                self.value_of(right_option, &a, left)?;
                self.pairs(node, &a, &b, |l, r| l == r)
            }
            (a, b) => Err(self.error(
                node,
                format!("{} is compared with {}", kind_of(&a), kind_of(&b)),
                "the same type on both sides",
            )),
        }
    }

    /// Refuses a comparison of an option with a literal that is none of its values: it is a slip, not a question.
    fn value_of(&self, option: Option<usize>, cases: &[(Value, Cond)], node: &IdedExpr) -> Checked<()> {
        let (Some(option), [(value, Cond::Const(true))]) = (option, cases) else {
            return Ok(());
        };
        let option = &self.options[option];
        if option.index_of(value).is_some() {
            return Ok(());
        }
        let texts: Vec<String> = option.values.iter().map(|value| value.to_string()).collect();
        Err(self
            .error(node, format!("`{}` has no value {value}", option.name), format!("one of {}", listing(&texts)))
            .help(nearest(&value.to_string(), texts.iter().map(String::as_str))))
    }

    fn member(&self, node: &IdedExpr, item: &IdedExpr, list: &IdedExpr, depth: usize) -> Checked<Typed> {
        let Expr::List(list) = &list.expr else {
            return Err(self.error(list, "`in` needs a list", "a list such as [\"a\", \"b\"]"));
        };
        let tests = list
            .elements
            .iter()
            .map(|element| self.equal(node, item, element, depth))
            .collect::<Checked<Vec<Cond>>>()?;
        // An empty list still has to have something comparable before `in`.
        self.expression(item, depth)?;
        Ok(Typed::Bool(any(tests)))
    }

    fn order(
        &self,
        node: &IdedExpr,
        left: &IdedExpr,
        right: &IdedExpr,
        depth: usize,
        holds: impl Fn(&Value, &Value) -> bool,
    ) -> Checked<Typed> {
        let a = self.number(left, depth)?;
        let b = self.number(right, depth)?;
        self.pairs(node, &a, &b, holds).map(Typed::Bool)
    }

    fn number(&self, node: &IdedExpr, depth: usize) -> Checked<Vec<(Value, Cond)>> {
        match self.expression(node, depth)? {
            Typed::Scalar { kind: Kind::Int, cases, .. } => Ok(cases),
            other => Err(self.error(
                node,
                format!("this is {}", kind_of(&other)),
                "a whole number: only numbers have an order and can be added",
            )),
        }
    }

    fn pairs(
        &self,
        node: &IdedExpr,
        left: &[(Value, Cond)],
        right: &[(Value, Cond)],
        holds: impl Fn(&Value, &Value) -> bool,
    ) -> Checked<Cond> {
        self.limit(node, left.len().saturating_mul(right.len()))?;
        let mut parts = Vec::new();
        for (l, when_left) in left {
            for (r, when_right) in right {
                if holds(l, r) {
                    parts.push(all(vec![when_left.clone(), when_right.clone()]));
                }
            }
        }
        Ok(any(parts))
    }

    fn arithmetic(
        &self,
        node: &IdedExpr,
        args: &[&IdedExpr],
        depth: usize,
        apply: impl Fn(&[i64]) -> Option<i64>,
    ) -> Checked<Typed> {
        let mut rows: Vec<(Vec<i64>, Cond)> = vec![(Vec::new(), Cond::Const(true))];
        for arg in args {
            let cases = self.number(arg, depth)?;
            self.limit(node, rows.len().saturating_mul(cases.len()))?;
            rows = rows
                .iter()
                .flat_map(|(numbers, when)| {
                    cases.iter().filter_map(move |(value, and)| match value {
                        Value::Int(number) => {
                            let mut numbers = numbers.clone();
                            numbers.push(*number);
                            Some((numbers, all(vec![when.clone(), and.clone()])))
                        }
                        Value::Bool(_) | Value::Text(_) => None,
                    })
                })
                .collect();
        }
        let cases = rows
            .into_iter()
            .map(|(numbers, when)| match apply(&numbers) {
                Some(number) => Ok((Value::Int(number), when)),
                None => Err(self.error(
                    node,
                    format!("this has no result for {}", listing(&numbers)),
                    "a result that exists and fits in 64 bits, for every value of the options",
                )),
            })
            .collect::<Checked<Vec<_>>>()?;
        Ok(Typed::Scalar { kind: Kind::Int, cases: merge(cases.into_iter()), option: None })
    }

    fn text_test(&self, node: &IdedExpr, call: &CallExpr, target: &IdedExpr, depth: usize) -> Checked<Typed> {
        let holds: fn(&str, &str) -> bool = match call.func_name.as_str() {
            "startsWith" => |text, part| text.starts_with(part),
            "endsWith" => |text, part| text.ends_with(part),
            "contains" => |text, part| text.contains(part),
            name => {
                return Err(self
                    .error(node, format!("there is no function `{name}`"), "startsWith, endsWith or contains")
                    .help(nearest(name, ["startsWith", "endsWith", "contains"])));
            }
        };
        let [part] = call.args.as_slice() else {
            return Err(self.error(node, format!("`{}` takes one argument", call.func_name), "one text in quotes"));
        };
        let text = self.text(target, depth)?;
        let part = self.text(part, depth)?;
        self.pairs(node, &text, &part, |text, part| match (text, part) {
            (Value::Text(text), Value::Text(part)) => holds(text, part),
            _ => false,
        })
        .map(Typed::Bool)
    }

    fn text(&self, node: &IdedExpr, depth: usize) -> Checked<Vec<(Value, Cond)>> {
        match self.expression(node, depth)? {
            Typed::Scalar { kind: Kind::Text, cases, .. } => Ok(cases),
            other => Err(self.error(node, format!("this is {}", kind_of(&other)), "text")),
        }
    }

    fn limit(&self, node: &IdedExpr, combinations: usize) -> Checked<()> {
        if combinations <= MAX_COMBINATIONS {
            return Ok(());
        }
        Err(self.error(
            node,
            format!("this has {combinations} combinations of values"),
            format!("at most {MAX_COMBINATIONS}"),
        ))
    }

    fn error(&self, node: &IdedExpr, message: impl Into<String>, expected: impl Into<String>) -> Diagnostic {
        let place = match self.extent(node, 0) {
            Some(range) => self.literal.locate(range),
            None => self.literal.span.clone(),
        };
        Diagnostic::at(place, message, expected)
    }

    /// The bytes of the condition that a node covers.
    fn extent(&self, node: &IdedExpr, depth: usize) -> Option<Range<usize>> {
        let (start, stop) = self.places.offset_for(node.id)?;
        let mut range = start as usize..(stop as usize).saturating_add(1).max(start as usize + 1);
        if depth > MAX_DEPTH {
            return Some(range);
        }
        let mut cover = |child: &IdedExpr| {
            if let Some(part) = self.extent(child, depth + 1) {
                range = range.start.min(part.start)..range.end.max(part.end);
            }
        };
        match &node.expr {
            Expr::Call(call) => call.target.iter().map(|target| &**target).chain(&call.args).for_each(&mut cover),
            Expr::Select(select) => {
                cover(&select.operand);
                range.end += select.field.len();
            }
            Expr::List(list) => list.elements.iter().for_each(&mut cover),
            _ => {}
        }
        Some(range)
    }
}

fn kind_of(typed: &Typed) -> Kind {
    match typed {
        Typed::Bool(_) => Kind::Bool,
        Typed::Scalar { kind, .. } => *kind,
    }
}

fn test(var: Var, values: BTreeSet<usize>) -> Cond {
    if values.is_empty() { Cond::Const(false) } else { Cond::Test(var, values) }
}

/// Joins the conditions of equal values.
fn merge(cases: impl Iterator<Item = (Value, Cond)>) -> Vec<(Value, Cond)> {
    let mut merged: BTreeMap<Value, Vec<Cond>> = BTreeMap::new();
    for (value, when) in cases {
        merged.entry(value).or_default().push(when);
    }
    merged.into_iter().map(|(value, when)| (value, any(when))).collect()
}

pub(crate) fn not(cond: Cond) -> Cond {
    match cond {
        Cond::Const(value) => Cond::Const(!value),
        Cond::Not(inner) => *inner,
        other => Cond::Not(Box::new(other)),
    }
}

fn all(parts: Vec<Cond>) -> Cond {
    let mut kept = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Cond::Const(true) => {}
            Cond::Const(false) => return Cond::Const(false),
            other => kept.push(other),
        }
    }
    match kept.len() {
        0 => Cond::Const(true),
        1 => kept.remove(0),
        _ => Cond::All(kept),
    }
}

/// Any of `parts`; tests of one variable become one test.
fn any(parts: Vec<Cond>) -> Cond {
    let mut tests: BTreeMap<Var, BTreeSet<usize>> = BTreeMap::new();
    let mut kept = Vec::new();
    for part in parts {
        match part {
            Cond::Const(false) => {}
            Cond::Const(true) => return Cond::Const(true),
            Cond::Test(var, values) => tests.entry(var).or_default().extend(values),
            other => kept.push(other),
        }
    }
    let mut joined: Vec<Cond> = tests.into_iter().map(|(var, values)| Cond::Test(var, values)).collect();
    joined.append(&mut kept);
    match joined.len() {
        0 => Cond::Const(false),
        1 => joined.remove(0),
        _ => Cond::Any(joined),
    }
}
