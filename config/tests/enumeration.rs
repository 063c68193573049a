//! The analysis against plain enumeration, on 1,000 random small files.
//!
//! The oracle below shares nothing with the crate: it draws a file as data, evaluates conditions on that data, runs
//! every configuration through resolvers and gates, and tries every set of gates. Files are small enough for that
//! (at most 5 options, 7 gates). The runner's seed is fixed, so a failure reproduces; proptest shrinks it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use leasecheck_config::{AdviceKind, Change, Report, Value, analyse, parse, render_markdown, render_text};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

#[derive(Clone, Debug)]
struct OptionSpec {
    /// 0: a flag; otherwise this many values.
    width: usize,
    numbers: bool,
    default: usize,
}

#[derive(Clone, Debug)]
enum Test {
    Is(usize, usize, bool),
    OneOf(usize, usize, usize),
    AtMost(usize, usize),
    Same(usize, usize),
    Not(Box<Test>),
    And(Box<Test>, Box<Test>),
    Or(Box<Test>, Box<Test>),
}

#[derive(Clone, Debug)]
struct FileSpec {
    options: Vec<OptionSpec>,
    assume: Option<Test>,
    resolvers: Vec<(Test, usize, usize)>,
    /// Condition, recommended option and value, and how many resolvers run before.
    gates: Vec<(Test, usize, usize, usize)>,
    features: Vec<Test>,
    hazard: Test,
}

impl FileSpec {
    fn option(&self, raw: usize) -> usize {
        raw % self.options.len()
    }

    fn values(&self, option: usize) -> usize {
        self.options[option].width.max(2)
    }

    fn default(&self, option: usize) -> usize {
        self.options[option].default % self.values(option)
    }

    fn text(&self, option: usize, value: usize) -> String {
        match (self.options[option].width, self.options[option].numbers) {
            (0, _) => (value == 1).to_string(),
            (_, true) => value.to_string(),
            (_, false) => format!("\"v{value}\""),
        }
    }

    fn configs(&self) -> Vec<Vec<usize>> {
        let mut all = vec![Vec::new()];
        for option in 0..self.options.len() {
            all = all
                .into_iter()
                .flat_map(|config: Vec<usize>| {
                    (0..self.values(option)).map(move |value| [config.clone(), vec![value]].concat())
                })
                .collect();
        }
        all
    }

    fn holds(&self, test: &Test, asked: &[usize], now: &[usize]) -> bool {
        match test {
            Test::Is(option, value, of_asked) => {
                let option = self.option(*option);
                (if *of_asked { asked } else { now })[option] == value % self.values(option)
            }
            Test::OneOf(option, a, b) => {
                let option = self.option(*option);
                let values = self.values(option);
                now[option] == a % values || now[option] == b % values
            }
            Test::AtMost(option, bound) => {
                let option = self.option(*option);
                // Only numbers have an order; elsewhere it is rendered as "is".
                if self.options[option].width > 0 && self.options[option].numbers {
                    now[option] <= *bound
                } else {
                    now[option] == bound % self.values(option)
                }
            }
            Test::Same(a, b) => {
                let (a, b) = (self.option(*a), self.option(*b));
                if self.comparable(a, b) { now[a] == now[b] } else { now[a] == 0 }
            }
            Test::Not(inner) => !self.holds(inner, asked, now),
            Test::And(a, b) => self.holds(a, asked, now) && self.holds(b, asked, now),
            Test::Or(a, b) => self.holds(a, asked, now) || self.holds(b, asked, now),
        }
    }

    fn comparable(&self, a: usize, b: usize) -> bool {
        let kind = |option: usize| {
            (self.options[option].width == 0, self.options[option].width > 0 && self.options[option].numbers)
        };
        kind(a) == kind(b)
    }

    fn cel(&self, test: &Test) -> String {
        match test {
            Test::Is(option, value, of_asked) => {
                let option = self.option(*option);
                let asked = if *of_asked { "asked." } else { "" };
                format!("{asked}o{option} == {}", self.text(option, value % self.values(option)))
            }
            Test::OneOf(option, a, b) => {
                let option = self.option(*option);
                let values = self.values(option);
                format!("o{option} in [{}, {}]", self.text(option, a % values), self.text(option, b % values))
            }
            Test::AtMost(option, bound) => {
                let option = self.option(*option);
                if self.options[option].width > 0 && self.options[option].numbers {
                    format!("o{option} - 1 < {bound}")
                } else {
                    format!("o{option} == {}", self.text(option, bound % self.values(option)))
                }
            }
            Test::Same(a, b) => {
                let (a, b) = (self.option(*a), self.option(*b));
                if self.comparable(a, b) { format!("o{a} == o{b}") } else { format!("o{a} == {}", self.text(a, 0)) }
            }
            Test::Not(inner) => format!("!({})", self.cel(inner)),
            Test::And(a, b) => format!("({}) && ({})", self.cel(a), self.cel(b)),
            Test::Or(a, b) => format!("({}) || ({})", self.cel(a), self.cel(b)),
        }
    }

    fn toml(&self) -> String {
        let mut out = String::from("[options]\n");
        for (index, option) in self.options.iter().enumerate() {
            let values: Vec<String> = (0..self.values(index)).map(|value| self.text(index, value)).collect();
            let _ = match option.width {
                0 => writeln!(out, "o{index} = {}", self.default(index) == 1),
                _ => writeln!(
                    out,
                    "o{index} = {{ values = [{}], default = {}, auto = {} }}",
                    values.join(", "),
                    self.text(index, self.default(index)),
                    values[0]
                ),
            };
        }
        if let Some(assume) = &self.assume {
            let _ = writeln!(out, "[[assume]]\nholds = '{}'", self.cel(assume));
        }
        for (index, (when, option, value)) in self.resolvers.iter().enumerate() {
            let option = self.option(*option);
            let value = self.text(option, value % self.values(option));
            let _ = writeln!(
                out,
                "[[resolver]]\nname = 'r{index}'\nwhen = '{}'\nset = {{ o{option} = {value} }}",
                self.cel(when)
            );
        }
        for (index, (rejects, option, value, stage)) in self.gates.iter().enumerate() {
            let option = self.option(*option);
            let value = self.text(option, value % self.values(option));
            let _ = writeln!(
                out,
                "[[gate]]\nname = 'g{index}'\nrejects = '{}'\nrecommends = {{ o{option} = {value} }}",
                self.cel(rejects)
            );
            let stage = stage % (self.resolvers.len() + 1);
            if stage < self.resolvers.len() {
                let _ = writeln!(out, "before = 'r{stage}'");
            }
        }
        for (index, runs) in self.features.iter().enumerate() {
            let _ = writeln!(out, "[[feature]]\nname = 'f{index}'\nruns = '{}'", self.cel(runs));
        }
        let _ = writeln!(out, "[[unsafe]]\nname = 'u'\nwhen = '{}'", self.cel(&self.hazard));
        let _ = writeln!(
            out,
            "[[must]]\nreachable = 'f0'\n[[must]]\nunreachable = 'u'\n[[must]]\nno_new_rejections_without = 'f0'"
        );
        out
    }

    fn run(&self, asked: &[usize]) -> Outcome {
        let mut stages = vec![asked.to_vec()];
        let mut fired = Vec::new();
        for (when, option, value) in &self.resolvers {
            let mut now = stages[stages.len() - 1].clone();
            let fires = self.holds(when, asked, &now);
            if fires {
                let option = self.option(*option);
                now[option] = value % self.values(option);
            }
            fired.push(fires);
            stages.push(now);
        }
        let now = stages[stages.len() - 1].clone();
        let mut again = now.clone();
        for (when, option, value) in &self.resolvers {
            if self.holds(when, asked, &again) {
                let option = self.option(*option);
                again[option] = value % self.values(option);
            }
        }
        let rejecting = self
            .gates
            .iter()
            .enumerate()
            .filter(|(_, (rejects, _, _, stage))| {
                self.holds(rejects, asked, &stages[stage % (self.resolvers.len() + 1)])
            })
            .map(|(gate, _)| gate)
            .collect();
        Outcome { asked: asked.to_vec(), now, again, fired, rejecting }
    }

    fn outcomes(&self) -> Vec<Outcome> {
        let exists = |config: &Vec<usize>| self.assume.as_ref().is_none_or(|assume| self.holds_asked(assume, config));
        self.configs().into_iter().filter(exists).map(|config| self.run(&config)).collect()
    }

    fn holds_asked(&self, test: &Test, config: &[usize]) -> bool {
        self.holds(test, config, config)
    }

    fn distance(&self, config: &[usize]) -> usize {
        (0..config.len()).filter(|option| config[*option] != self.default(*option)).count()
    }
}

#[derive(Debug)]
struct Outcome {
    asked: Vec<usize>,
    now: Vec<usize>,
    again: Vec<usize>,
    fired: Vec<bool>,
    rejecting: BTreeSet<usize>,
}

fn leaves() -> impl Strategy<Value = Test> + Clone {
    prop_oneof![
        4 => (0..5usize, 0..4usize, prop::bool::weighted(0.2)).prop_map(|(o, v, asked)| Test::Is(o, v, asked)),
        1 => (0..5usize, 0..4usize, 0..4usize).prop_map(|(o, a, b)| Test::OneOf(o, a, b)),
        1 => (0..5usize, 0..4usize).prop_map(|(o, bound)| Test::AtMost(o, bound)),
        1 => (0..5usize, 0..5usize).prop_map(|(a, b)| Test::Same(a, b)),
    ]
}

fn tests() -> impl Strategy<Value = Test> {
    leaves().prop_recursive(3, 6, 2, |inner| {
        prop_oneof![
            1 => inner.clone().prop_map(|a| Test::Not(Box::new(a))),
            2 => (inner.clone(), inner.clone()).prop_map(|(a, b)| Test::And(Box::new(a), Box::new(b))),
            1 => (inner.clone(), inner).prop_map(|(a, b)| Test::Or(Box::new(a), Box::new(b))),
        ]
    })
}

fn files() -> impl Strategy<Value = FileSpec> {
    let option = (0..5usize, any::<bool>(), 0..4usize).prop_map(|(width, numbers, default)| OptionSpec {
        width: if width < 2 { 0 } else { width },
        numbers,
        default,
    });
    (
        vec(option, 1..=5),
        prop::option::weighted(0.2, tests()),
        vec((tests(), 0..5usize, 0..4usize), 0..=3),
        vec((tests(), 0..5usize, 0..4usize, 0..4usize), 0..=7),
        // Features are mostly simple, so that it usually takes several gates to block one.
        vec(prop_oneof![3 => leaves().boxed(), 1 => tests().boxed()], 1..=2),
        tests(),
    )
        .prop_map(|(options, assume, resolvers, gates, features, hazard)| FileSpec {
            options,
            assume,
            resolvers,
            gates,
            features,
            hazard,
        })
}

fn number(count: &leasecheck_config::Count) -> usize {
    count.exact().expect("small files are counted").parse().expect("a count is a number")
}

/// The smallest sets of `gates` that reject all of `configs`, by trying every set.
fn smallest_sets(configs: &[&Outcome], gates: &[usize]) -> Option<Vec<Vec<usize>>> {
    let mut best: Option<(usize, Vec<Vec<usize>>)> = None;
    for mask in 0..1usize << gates.len() {
        let set: Vec<usize> =
            gates.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1).map(|(_, gate)| *gate).collect();
        if configs.iter().all(|outcome| set.iter().any(|gate| outcome.rejecting.contains(gate))) {
            match &mut best {
                Some((size, _)) if *size < set.len() => {}
                Some((size, sets)) if *size == set.len() => sets.push(set),
                _ => best = Some((set.len(), vec![set])),
            }
        }
    }
    best.map(|(_, mut sets)| {
        sets.sort();
        sets
    })
}

fn gate_numbers(sets: &[Vec<leasecheck_config::Named>]) -> Vec<Vec<usize>> {
    let number = |named: &leasecheck_config::Named| named.name[1..].parse().expect("gates are g0, g1, …");
    sets.iter().map(|set| set.iter().map(number).collect()).collect()
}

fn check(spec: &FileSpec) -> (String, Report) {
    let toml = spec.toml();
    let file = parse("random.toml", &toml).unwrap_or_else(|wrong| panic!("{toml}\n{wrong}"));
    let report = analyse(&file, None);
    let outcomes = spec.outcomes();
    let accepted: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.rejecting.is_empty()).collect();
    assert_eq!(number(&report.totals.configurations), outcomes.len(), "configurations");
    assert_eq!(number(&report.totals.accepted), accepted.len(), "accepted");
    let gates: Vec<usize> = (0..spec.gates.len()).collect();

    for (feature, answer) in spec.features.iter().zip(&report.features) {
        let runs = |outcome: &&Outcome| spec.holds(feature, &outcome.asked, &outcome.now);
        let reached: Vec<&Outcome> = accepted.iter().copied().filter(|outcome| runs(outcome)).collect();
        assert_eq!(number(&answer.configurations), reached.len(), "feature");
        let nearest = reached.iter().map(|outcome| spec.distance(&outcome.asked)).min();
        assert_eq!(answer.example.as_ref().map(|example| example.0.len()), nearest, "nearest to the feature");
        assert_eq!(answer.blocked.is_some(), reached.is_empty(), "blocked");
        let Some(blocked) = &answer.blocked else {
            continue;
        };
        let all: Vec<&Outcome> = outcomes.iter().filter(|outcome| runs(outcome)).collect();
        assert!(blocked.smallest && blocked.complete);
        assert_eq!(Some(gate_numbers(&blocked.sets)), smallest_sets(&all, &gates), "smallest conflicting sets");
        for dropped in &blocked.dropped {
            let gate: usize = dropped.gate[1..].parse().expect("gates are g0, g1, …");
            let through = all.iter().filter(|outcome| outcome.rejecting.iter().all(|other| *other == gate)).count();
            assert_eq!(number(&dropped.configurations), through, "dropping one gate");
        }
    }

    let unsafe_ones: Vec<&&Outcome> =
        accepted.iter().filter(|outcome| spec.holds(&spec.hazard, &outcome.asked, &outcome.now)).collect();
    assert_eq!(number(&report.hazards[0].configurations), unsafe_ones.len(), "unsafe");
    assert_eq!(
        report.hazards[0].examples.first().map(|example| example.0.len()),
        unsafe_ones.iter().map(|outcome| spec.distance(&outcome.asked)).min(),
        "nearest unsafe configuration"
    );

    let redundant: Vec<Vec<Vec<usize>>> = report.redundant.iter().map(|gate| gate_numbers(&gate.covered_by)).collect();
    let expected: Vec<Vec<Vec<usize>>> = gates
        .iter()
        .filter_map(|gate| {
            let rejected: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.rejecting.contains(gate)).collect();
            let others: Vec<usize> = gates.iter().copied().filter(|other| other != gate).collect();
            smallest_sets(&rejected, &others)
        })
        .collect();
    assert_eq!(redundant, expected, "redundant gates and what covers them");

    let idle: Vec<String> = report.idle_resolvers.iter().map(|idle| idle.named.name.clone()).collect();
    let expected: Vec<String> = (0..spec.resolvers.len())
        .filter(|resolver| accepted.iter().all(|outcome| !outcome.fired[*resolver]))
        .map(|resolver| format!("r{resolver}"))
        .collect();
    assert_eq!(idle, expected, "idle resolvers");

    let autos: Vec<Vec<usize>> = report
        .autos
        .iter()
        .map(|auto| auto.chosen.iter().map(|chosen| number(&chosen.configurations)).collect())
        .collect();
    let expected: Vec<Vec<usize>> = (0..spec.options.len())
        .filter(|option| spec.options[*option].width > 0)
        .map(|option| {
            let chosen = |value: usize| {
                accepted.iter().filter(|outcome| outcome.asked[option] == 0 && outcome.now[option] == value).count()
            };
            (0..spec.values(option)).map(chosen).collect()
        })
        .collect();
    assert_eq!(autos, expected, "what auto becomes");

    let unsettled: Vec<(String, usize)> = report
        .unsettled
        .iter()
        .map(|unsettled| (unsettled.option.clone(), number(&unsettled.configurations)))
        .collect();
    let expected: Vec<(String, usize)> = (0..spec.options.len())
        .map(|option| {
            (
                format!("o{option}"),
                accepted.iter().filter(|outcome| outcome.now[option] != outcome.again[option]).count(),
            )
        })
        .filter(|(_, count)| *count > 0)
        .collect();
    assert_eq!(unsettled, expected, "a second run");

    check_advice(spec, &outcomes, &report);
    (toml, report)
}

fn check_advice(spec: &FileSpec, outcomes: &[Outcome], report: &Report) {
    for (gate, answer) in report.advice.iter().enumerate() {
        let (_, option, value, _) = &spec.gates[gate];
        let option = spec.option(*option);
        let after = |outcome: &Outcome| {
            let mut config = outcome.asked.clone();
            config[option] = value % spec.values(option);
            outcomes.iter().find(|outcome| outcome.asked == config)
        };
        let pairs: Vec<(&Outcome, &Outcome)> = outcomes
            .iter()
            .filter(|outcome| outcome.rejecting.contains(&gate))
            .filter_map(|outcome| Some((outcome, after(outcome)?)))
            .collect();
        assert_eq!(number(&answer.rejected), pairs.len(), "advice is given");
        let accepted = pairs.iter().filter(|(_, after)| after.rejecting.is_empty()).count();
        assert_eq!(number(&answer.accepted), accepted, "advice helps");
        let found = |kind: AdviceKind| {
            let problem = answer.problems.iter().find(|problem| problem.kind == kind);
            problem.map_or(0, |problem| number(&problem.configurations))
        };
        let still = pairs.iter().filter(|(_, after)| after.rejecting.contains(&gate)).count();
        assert_eq!(found(AdviceKind::StillRejected), still, "advice does not satisfy its own gate");
        for other in (0..spec.gates.len()).filter(|other| *other != gate) {
            let newly = pairs
                .iter()
                .filter(|(before, after)| !before.rejecting.contains(&other) && after.rejecting.contains(&other))
                .count();
            assert_eq!(found(AdviceKind::NewlyRejected(format!("g{other}"))), newly, "advice leads into another gate");
        }
        let unsafe_ones = pairs
            .iter()
            .filter(|(_, after)| after.rejecting.is_empty() && spec.holds(&spec.hazard, &after.asked, &after.now))
            .count();
        assert_eq!(found(AdviceKind::Unsafe("u".to_owned())), unsafe_ones, "advice leads to an unsafe path");
        assert_eq!(found(AdviceKind::NeverHelps) > 0, !pairs.is_empty() && accepted == 0, "advice never helps");
    }
}

/// The old and the new file have the same options; everything else differs.
///
/// Returns whether a proof that no fewer descriptions will do was checked on something that needs several.
fn check_comparison(old: &FileSpec, new: &FileSpec) -> bool {
    let old = FileSpec { options: new.options.clone(), ..old.clone() };
    let new_file = parse("new.toml", &new.toml()).expect("a random file is a gate file");
    // The oracle's features have the same names in both files, so none is new; the old file gets other names.
    let old_toml = old.toml().replace("name = 'f", "name = 'old f").replace("reachable = 'f0'", "reachable = 'old f0'");
    let old_toml = old_toml.replace("_without = 'f0'", "_without = 'old f0'");
    let old_file = parse("old.toml", &old_toml).unwrap_or_else(|wrong| panic!("{old_toml}\n{wrong}"));
    let report = analyse(&new_file, Some(&old_file));
    let comparison = report.comparison.as_ref().expect("there is a baseline");
    let before = old.outcomes();
    let shared: Vec<(&Outcome, Outcome)> = before
        .iter()
        .filter(|outcome| new.assume.as_ref().is_none_or(|assume| new.holds_asked(assume, &outcome.asked)))
        .map(|outcome| (outcome, new.run(&outcome.asked)))
        .collect();
    let rejected: Vec<&(&Outcome, Outcome)> =
        shared.iter().filter(|(b, a)| b.rejecting.is_empty() && !a.rejecting.is_empty()).collect();
    let wants = |outcome: &Outcome| new.features.iter().any(|feature| new.holds(feature, &outcome.asked, &outcome.now));
    let without = rejected.iter().filter(|(_, after)| !wants(after)).count();
    assert_eq!(number(&comparison.newly_rejected.configurations), without, "newly rejected without a new feature");
    assert_eq!(
        number(&comparison.newly_rejected_with_feature.configurations),
        rejected.len() - without,
        "newly rejected with one"
    );
    let accepted: Vec<&(&Outcome, Outcome)> =
        shared.iter().filter(|(b, a)| !b.rejecting.is_empty() && a.rejecting.is_empty()).collect();
    assert_eq!(number(&comparison.newly_accepted.configurations), accepted.len(), "newly accepted");
    let configs = |set: Vec<&Outcome>| set.into_iter().map(|outcome| outcome.asked.clone()).collect::<Vec<_>>();
    let accepted = configs(accepted.iter().map(|(_, a)| a).collect());
    check_groups(new, &comparison.newly_accepted, &accepted, &shared);
    let opened = check_fewest(new, &comparison.newly_accepted, &accepted, &shared);
    let plain = rejected.iter().filter(|(_, after)| !wants(after)).map(|(_, a)| a).collect();
    let plain = configs(plain);
    check_groups(new, &comparison.newly_rejected, &plain, &shared);
    let proved = check_fewest(new, &comparison.newly_rejected, &plain, &shared);
    assert_eq!(report, analyse(&new_file, Some(&old_file)), "the same answer twice");
    assert!(render_text(&report).contains("verdict") && render_markdown(&report).starts_with("## "));
    proved || opened
}

/// The descriptions cover the set, cover nothing else that exists, and each is needed.
fn check_groups(spec: &FileSpec, change: &Change, expected: &[Vec<usize>], shared: &[(&Outcome, Outcome)]) {
    assert!(change.complete);
    let allowed = |group: &leasecheck_config::Group, config: &[usize]| {
        group.description.iter().all(|common| {
            let option: usize = common.option[1..].parse().expect("options are o0, o1, …");
            let value = match spec.text(option, config[option]).as_str() {
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                text if text.starts_with('"') => Value::Text(text.trim_matches('"').to_owned()),
                number => Value::Int(number.parse().expect("a number")),
            };
            common.values.contains(&value)
        })
    };
    for (_, after) in shared {
        let covering = change.groups.iter().filter(|group| allowed(group, &after.asked)).count();
        assert_eq!(covering > 0, expected.contains(&after.asked), "the descriptions describe the set: {change:?}");
    }
    for group in &change.groups {
        let inside: Vec<&Vec<usize>> = expected.iter().filter(|config| allowed(group, config)).collect();
        assert_eq!(number(&group.configurations), inside.len());
        let alone =
            inside.iter().any(|config| change.groups.iter().filter(|other| allowed(other, config)).count() == 1);
        assert!(alone, "a description that others make superfluous: {change:?}");
    }
}

/// "No fewer descriptions will do", against all descriptions there are. Up to three options and three groups, so that
/// trying all pairs is enough.
fn check_fewest(spec: &FileSpec, change: &Change, expected: &[Vec<usize>], shared: &[(&Outcome, Outcome)]) -> bool {
    if spec.options.len() > 3 || change.groups.len() > 3 || !change.fewest {
        return false;
    }
    let subsets = |option: usize| 1..1usize << spec.values(option);
    let mut cubes: Vec<Vec<usize>> = vec![Vec::new()];
    for option in 0..spec.options.len() {
        cubes = cubes.iter().flat_map(|cube| subsets(option).map(|set| [cube.clone(), vec![set]].concat())).collect();
    }
    let inside = |cube: &[usize], config: &[usize]| cube.iter().zip(config).all(|(set, value)| set >> value & 1 == 1);
    let covered: BTreeSet<u64> = cubes
        .iter()
        .filter(|cube| shared.iter().all(|(_, after)| !inside(cube, &after.asked) || expected.contains(&after.asked)))
        .map(|cube| {
            let bits = expected.iter().enumerate().filter(|(_, config)| inside(cube, config));
            bits.fold(0u64, |mask, (bit, _)| mask | 1 << bit)
        })
        .collect();
    let all = expected.iter().enumerate().fold(0u64, |mask, (bit, _)| mask | 1 << bit);
    let fewest = if expected.is_empty() {
        0
    } else if covered.contains(&all) {
        1
    } else if covered.iter().any(|a| covered.iter().any(|b| a | b == all)) {
        2
    } else {
        3
    };
    assert_eq!(change.groups.len(), fewest, "the fewest descriptions: {change:?}");
    fewest > 1
}

#[test]
fn a_thousand_random_files_agree_with_enumeration() {
    let config = Config { cases: 1_000, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    // How often the interesting answers occurred: a property that never met a conflict would prove little.
    let conflicts = std::cell::Cell::new([0usize; 5]);
    let outcome = runner.run(&(files(), files()), |(new, old)| {
        let (_, report) = check(&new);
        let mut seen = conflicts.get();
        seen[4] += usize::from(check_comparison(&old, &new));
        for blocked in report.features.iter().filter_map(|feature| feature.blocked.as_ref()) {
            let size = blocked.sets.first().map_or(0, Vec::len);
            seen[size.min(3)] += 1;
        }
        conflicts.set(seen);
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
    let [impossible, single, pairs, more, several] = conflicts.get();
    assert!(impossible > 20 && single > 100 && pairs > 50 && more > 5 && several > 10, "{:?}", conflicts.get());
}
