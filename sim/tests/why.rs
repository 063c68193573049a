//! What `why` says about the counterexamples of the corpus is consistent.

mod common;

use common::{programs, search, title};
use leasecheck_sim::explore::why::{WhyError, WhyOptions, chances, why};
use leasecheck_sim::program::Expect;
use leasecheck_sim::verdict::Verdict;

fn options(seed: u64) -> WhyOptions<'static> {
    WhyOptions { rolls: 64, seed, limit_states: 200_000, interrupted: &|| false }
}

#[test]
fn every_counterexample_of_the_corpus_becomes_certain_at_a_step() {
    let mut late = 0;
    for program in programs().iter().filter(|program| program.expect != Expect::Unreachable) {
        let Verdict::Reachable(found) = search(program, false, 300_000).verdict else { continue };
        let why = why(program, &found.steps, &options(1)).unwrap_or_else(|error| panic!("{}: {error}", title(program)));
        let title = title(program);
        assert_eq!(why.rolled.len(), found.steps.len() + 1, "{title}");
        for (prefix, rolled) in why.rolled.iter().enumerate() {
            assert_eq!(rolled.hits + rolled.others + rolled.clean + rolled.unfinished, 64, "{title}");
            if prefix >= why.certain.from {
                assert_eq!(rolled.clean, 0, "{title}: a roll from step {prefix} ends well, but it is certain");
            }
            if prefix >= why.likely {
                assert!(rolled.hits * 2 >= 64, "{title}");
            }
        }
        assert_eq!(why.rolled[found.steps.len()].hits, 64, "{title}");
        assert!(why.certain.unknown.is_none(), "{title}: the search for a way out was cut off");
        late += usize::from(why.certain.from > 0);
    }
    assert!(late > 20, "only {late} counterexamples are not certain from the start");
}

#[test]
fn the_same_seed_gives_the_same_rolls_and_a_run_without_a_violation_is_refused() {
    let programs = programs();
    let mut reachable = programs.iter().filter_map(|program| match search(program, false, 300_000).verdict {
        Verdict::Reachable(found) if found.steps.len() > 6 => Some((program, found)),
        _ => None,
    });
    let (program, found) = reachable.next().expect("a long counterexample");
    let rolled = |seed| why(program, &found.steps, &options(seed)).map(|why| why.rolled);
    assert_eq!(rolled(1), rolled(1));
    assert_eq!(rolled(1).map(|_| ()), Ok(()));
    assert_eq!(rolled(1).err(), None);
    let all = chances(program, &found.steps, usize::MAX, &options(1)).expect("it is violated");
    let one_by_one: Vec<_> = rolled(1).expect("it is violated").into_iter().enumerate().collect();
    assert_eq!(all, one_by_one, "rolls for a chart are those of `why`");
    let some = chances(program, &found.steps, 3, &options(1)).expect("it is violated");
    assert!(some.len() <= 4 && some.iter().all(|one| all.contains(one)), "{some:?}");
    assert_eq!((some[0].0, some[some.len() - 1].0), (0, found.steps.len()));
    assert_eq!(chances(program, &found.steps[..2], 3, &options(1)).err(), Some(WhyError::Clean));
    assert_eq!(why(program, &found.steps[..2], &options(1)).err(), Some(WhyError::Clean));
}
