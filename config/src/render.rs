//! A report for people: one set of sentences, as text for a terminal or as Markdown for a review.

use std::fmt::Write as _;

use crate::diagnostics::listing;
use crate::report::{AdviceKind, Answer, Blocked, Change, Comparison, Example, Group, Named, Report, Verdict};

/// The most problems that are shown for one gate's advice.
const MAX_PROBLEMS: usize = 4;

/// A headline with details under it.
struct Item {
    head: String,
    details: Vec<String>,
}

/// A part of the report.
struct Section {
    title: &'static str,
    items: Vec<Item>,
}

/// The report as text.
pub fn render_text(report: &Report) -> String {
    let mut out = summary(report);
    out.push('\n');
    for section in sections(report) {
        let _ = write!(out, "\n{}\n", section.title);
        for item in section.items {
            let _ = writeln!(out, "  {}", item.head);
            for detail in item.details {
                let _ = writeln!(out, "      {detail}");
            }
        }
    }
    let _ = write!(out, "\nverdict: {}\n", verdict(report));
    out
}

/// The report as Markdown.
pub fn render_markdown(report: &Report) -> String {
    let mut out = format!("## {}\n\n{}\n", report.name, summary(report));
    for section in sections(report) {
        let _ = write!(out, "\n### {}\n\n", section.title);
        for item in section.items {
            let _ = writeln!(out, "- {}", item.head);
            for detail in item.details {
                let _ = writeln!(out, "  - {detail}");
            }
        }
    }
    let _ = write!(out, "\n**Verdict:** {}\n", verdict(report));
    out
}

fn summary(report: &Report) -> String {
    let totals = &report.totals;
    let source = report.source.as_ref().map_or_else(String::new, |source| format!(" ({source})"));
    format!(
        "{}{source}: {} options, {} resolvers, {} gates; {}, {} of them accepted",
        report.name,
        totals.options,
        totals.resolvers,
        totals.gates,
        totals.configurations.noun(),
        totals.accepted
    )
}

fn verdict(report: &Report) -> String {
    let wrong = report.checks().iter().filter(|check| !check.passed).count();
    match report.verdict {
        Verdict::Ok if report.musts.is_empty() => "ok (the file has no musts)".to_owned(),
        Verdict::Ok => format!("ok ({} musts hold)", report.musts.len()),
        Verdict::Failed if report.as_expected() => format!("failed, as the file expects ({wrong} checks fail)"),
        Verdict::Failed => format!("failed ({wrong} checks fail)"),
    }
}

fn sections(report: &Report) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut add = |title: &'static str, items: Vec<Item>| {
        if !items.is_empty() {
            sections.push(Section { title, items });
        }
    };
    add("musts", musts(report));
    add(
        "no configuration is accepted",
        report
            .nothing_accepted
            .iter()
            .map(|blocked| Item { head: "the gates reject everything".to_owned(), details: blocked_details(blocked) })
            .collect(),
    );
    add("features that no accepted configuration reaches", unreachable(report));
    add("unsafe paths that accepted configurations reach", hazards(report));
    add("gates whose advice does not help", advice(report));
    if let Some(comparison) = &report.comparison {
        add("against the baseline", baseline(comparison));
        add("newly rejected, without asking for a new feature", change(&comparison.newly_rejected, "rejected by"));
        add("newly rejected, asking for a new feature", change(&comparison.newly_rejected_with_feature, "rejected by"));
        add("newly accepted", change(&comparison.newly_accepted, "rejected before by"));
    }
    add("gates that reject nothing of their own", redundant(report));
    add("resolvers that never fire", idle(report));
    add("what automatic values become", autos(report));
    add("a second run of the resolvers would change", unsettled(report));
    add("features that are reachable", reachable(report));
    add("unsafe paths that no accepted configuration reaches", safe(report));
    add("assumed", report.assumptions.iter().map(|text| plain(text.clone())).collect());
    sections
}

fn plain(head: String) -> Item {
    Item { head, details: Vec::new() }
}

fn code(example: &Example) -> String {
    if example.0.is_empty() { example.to_string() } else { format!("`{example}`") }
}

fn with_source(named: &Named) -> String {
    match &named.source {
        Some(source) => format!("`{}` ({source})", named.name),
        None => format!("`{}`", named.name),
    }
}

fn musts(report: &Report) -> Vec<Item> {
    let item = |must: &crate::report::MustAnswer| {
        let answer = match must.answer {
            Answer::Yes => "yes",
            Answer::No => "no",
            Answer::Vacuous => "vacuous",
            Answer::NotChecked => "not checked",
        };
        let known = if must.as_expected && must.answer != Answer::Yes { " (known)" } else { "" };
        let mut details = vec![must.message.clone()];
        details.extend(must.because.iter().map(|because| format!("because: {because}")));
        Item { head: format!("{answer}{known}: {}", must.name), details }
    };
    report.musts.iter().map(item).collect()
}

fn blocked_details(blocked: &Blocked) -> Vec<String> {
    if blocked.sets.iter().all(Vec::is_empty) {
        return vec!["its condition cannot hold in any configuration, with or without the gates".to_owned()];
    }
    let size = blocked.sets.first().map_or(0, Vec::len);
    let what = match (size, blocked.smallest) {
        (1, _) => "one gate is enough to reject it all".to_owned(),
        (size, true) => format!("{size} gates conflict, and no fewer"),
        (size, false) => format!(
            "{size} gates conflict, and none of them can be left out (whether fewer others would do was not settled)"
        ),
    };
    let mut details = vec![what];
    for set in &blocked.sets {
        details.push(format!("conflict: {}", listing(set.iter().map(with_source))));
    }
    if blocked.smallest && !blocked.complete {
        details.push("there may be more sets of this size".to_owned());
    }
    for dropped in &blocked.dropped {
        details.push(match &dropped.example {
            Some(example) => {
                format!("without `{}`: {}, nearest: {}", dropped.gate, dropped.configurations.noun(), code(example))
            }
            None => format!("without `{}`: still none", dropped.gate),
        });
    }
    details
}

fn unreachable(report: &Report) -> Vec<Item> {
    let mut items = Vec::new();
    for feature in &report.features {
        if let Some(blocked) = &feature.blocked {
            items.push(Item { head: with_source(&feature.named), details: blocked_details(blocked) });
        }
    }
    items
}

fn reachable(report: &Report) -> Vec<Item> {
    let mut items = Vec::new();
    for feature in &report.features {
        if let Some(example) = &feature.example {
            items.push(plain(format!(
                "{}: {}, nearest: {}",
                with_source(&feature.named),
                feature.configurations.noun(),
                code(example)
            )));
        }
    }
    items
}

fn hazards(report: &Report) -> Vec<Item> {
    let mut items = Vec::new();
    for hazard in report.hazards.iter().filter(|hazard| !hazard.examples.is_empty()) {
        let mut details: Vec<String> = hazard.why.iter().map(|why| format!("unsafe because: {why}")).collect();
        details.extend(hazard.examples.iter().map(|example| format!("nearest: {}", code(example))));
        items.push(Item { head: format!("{}: {}", with_source(&hazard.named), hazard.configurations.noun()), details });
    }
    items
}

fn safe(report: &Report) -> Vec<Item> {
    let safe = report.hazards.iter().filter(|hazard| hazard.examples.is_empty());
    safe.map(|hazard| plain(with_source(&hazard.named))).collect()
}

fn advice(report: &Report) -> Vec<Item> {
    let mut items = Vec::new();
    for advice in report.advice.iter().filter(|advice| !advice.problems.is_empty()) {
        let mut details: Vec<String> = advice.message.iter().map(|message| format!("message: {message}")).collect();
        // The simplest cases say most; the rest is in the JSON.
        let mut problems: Vec<_> = advice.problems.iter().collect();
        problems.sort_by_key(|problem| (!matches!(problem.kind, AdviceKind::Unsafe(_)), problem.example.0.len()));
        for problem in problems.iter().take(MAX_PROBLEMS) {
            let what = match &problem.kind {
                AdviceKind::StillRejected => "this gate still rejects".to_owned(),
                AdviceKind::NewlyRejected(gate) => format!("`{gate}`, which did not object before, rejects"),
                AdviceKind::Unsafe(path) => format!("accepted, and `{path}` is reached, in"),
                AdviceKind::NeverHelps => "none is accepted, of".to_owned(),
            };
            details.push(format!("{what} {}, nearest: {}", problem.configurations.noun(), code(&problem.example)));
        }
        if problems.len() > MAX_PROBLEMS {
            details.push(format!("and {} more problems of this kind", problems.len() - MAX_PROBLEMS));
        }
        items.push(Item {
            head: format!(
                "{} recommends {}: it rejects {}, and {} of them are accepted that way",
                with_source(&advice.named),
                code(&advice.recommends),
                advice.rejected.noun(),
                advice.accepted
            ),
            details,
        });
    }
    items
}

fn redundant(report: &Report) -> Vec<Item> {
    let item = |gate: &crate::report::RedundantGate| Item {
        head: with_source(&gate.named),
        details: gate
            .covered_by
            .iter()
            .map(|set| match set.as_slice() {
                [] => "it never rejects anything".to_owned(),
                set => format!(
                    "all it rejects is rejected by {}",
                    listing(set.iter().map(|gate| format!("`{}`", gate.name)))
                ),
            })
            .collect(),
    };
    report.redundant.iter().map(item).collect()
}

fn idle(report: &Report) -> Vec<Item> {
    let item = |resolver: &crate::report::IdleResolver| {
        let when = if resolver.only_rejected { ": only in configurations that are rejected" } else { "" };
        plain(format!("{}{when}", with_source(&resolver.named)))
    };
    report.idle_resolvers.iter().map(item).collect()
}

fn autos(report: &Report) -> Vec<Item> {
    let item = |auto: &crate::report::AutoAnswer| Item {
        head: format!("`{} = {}`", auto.option, auto.auto),
        details: auto
            .chosen
            .iter()
            .map(|chosen| match (chosen.possible, chosen.value == auto.auto) {
                (true, true) => format!("stays {} in {}", chosen.value, chosen.configurations.noun()),
                (true, false) => format!("becomes {} in {}", chosen.value, chosen.configurations.noun()),
                (false, true) => format!("never stays {}", chosen.value),
                (false, false) => format!("never becomes {}", chosen.value),
            })
            .collect(),
    };
    report.autos.iter().map(item).collect()
}

fn unsettled(report: &Report) -> Vec<Item> {
    let item = |unsettled: &crate::report::Unsettled| {
        let circle = match unsettled.circle.as_slice() {
            [] => "the order of the resolvers decides".to_owned(),
            circle => {
                format!("the resolvers of {} go in a circle", listing(circle.iter().map(|name| format!("`{name}`"))))
            }
        };
        Item {
            head: format!("`{}` in {}: {circle}", unsettled.option, unsettled.configurations.noun()),
            details: vec![format!("nearest: {}", code(&unsettled.example))],
        }
    };
    report.unsettled.iter().map(item).collect()
}

fn baseline(comparison: &Comparison) -> Vec<Item> {
    let mut items = vec![plain(format!("compared with {}", comparison.baseline))];
    let names = |names: &[String]| listing(names.iter().map(|name| format!("`{name}`")));
    if !comparison.new_options.is_empty() {
        items.push(plain(format!("new options: {}", names(&comparison.new_options))));
    }
    if !comparison.gone_options.is_empty() {
        items.push(plain(format!("options that are gone: {}", names(&comparison.gone_options))));
    }
    if !comparison.new_features.is_empty() {
        items.push(plain(format!("new features: {}", names(&comparison.new_features))));
    }
    for changed in &comparison.changed_defaults {
        let mut details = Vec::new();
        if let Some(example) = &changed.example {
            details.push(format!(
                "newly rejected among those that leave the changed defaults alone: {}, nearest: {}",
                changed.newly_rejected.noun(),
                code(example)
            ));
        }
        items.push(Item {
            head: format!("the default of `{}` was {} and is {}", changed.option, changed.before, changed.after),
            details,
        });
    }
    items
}

fn change(change: &Change, by: &str) -> Vec<Item> {
    let Some(example) = &change.example else {
        return vec![plain("none".to_owned())];
    };
    let how = match (change.complete, change.fewest) {
        (true, true) => "no fewer descriptions will do",
        (true, false) => "no description can be left out",
        (false, _) => "more descriptions than are listed",
    };
    let mut items = vec![plain(format!("{}, nearest: {} ({how})", change.configurations.noun(), code(example)))];
    items.extend(change.groups.iter().map(|group| Item {
        head: format!("{}: {}", group.configurations.noun(), describe(group)),
        details: if group.gates.is_empty() {
            Vec::new()
        } else {
            vec![format!("{by} {}", listing(group.gates.iter().map(with_source)))]
        },
    }));
    items
}

fn describe(group: &Group) -> String {
    if group.description.is_empty() {
        return "all of them".to_owned();
    }
    let part = |common: &crate::report::Common| match common.values.as_slice() {
        [one] => format!("{} = {one}", common.option),
        several => format!(
            "{} in [{}]",
            common.option,
            several.iter().map(|value| value.to_string()).collect::<Vec<_>>().join(", ")
        ),
    };
    format!("`{}`", group.description.iter().map(part).collect::<Vec<_>>().join(", "))
}
