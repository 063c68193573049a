//! `clone_from` is `clone`, whatever was there before: the same state, and the same behaviour from there on.

use crate::common::*;
use leasecheck_core::*;
use proptest::prelude::*;

fn reach(layout: ArenaConfig, ops: &[Op]) -> Lab {
    let mut lab = Lab::new(layout);
    ops.iter().for_each(|op| lab.run(op));
    lab
}

fn table(rules: Rules, calls: &[(u8, u32)]) -> LeaseTable {
    let mut table = LeaseTable::new(rules);
    for (call, number) in calls {
        let holder = HolderId(number % 4);
        match call {
            0 => drop(table.acquire(holder, (*number > 4).then_some(*number))),
            1 if !table.is_held_back(holder) => drop(table.acquire_in_turn(holder)),
            1 | 2 => drop(table.hand_off(holder, EventKey(number % 3))),
            _ => drop(table.request_compaction(holder)),
        }
    }
    table
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn an_arena_becomes_the_other(
        one in (layouts(), prop::collection::vec(ops(), 0..20)),
        other in (layouts(), prop::collection::vec(ops(), 0..20)),
        same_layout in any::<bool>(),
        then in prop::collection::vec(ops(), 0..20),
    ) {
        let mut lab = reach(one.0, &one.1);
        // Two states of one layout share it; the copy leaves out what is the same then.
        let mut copy = if same_layout { lab.arena.clone() } else { reach(other.0, &other.1).arena };
        if same_layout {
            lab.run(&Op::Allocate(vec![(0, 2), (1, 1)]));
            other.1.iter().for_each(|op| lab.run(op));
        }
        copy.clone_from(&lab.arena);
        prop_assert_eq!(&copy, &lab.arena);
        let mut again = lab.clone();
        again.arena = copy;
        for op in &then {
            lab.run(op);
            again.run(op);
            prop_assert_eq!(&again.arena, &lab.arena);
        }
    }

    #[test]
    fn a_lease_table_becomes_the_other(
        calls in prop::collection::vec((0_u8..4, 0_u32..9), 0..30),
        others in prop::collection::vec((0_u8..4, 0_u32..9), 0..30),
    ) {
        let one = table(Rules::all(), &calls);
        let mut copy = table(Rules::all().without(Rule::LeasesReentrant), &others);
        copy.clone_from(&one);
        prop_assert_eq!(copy, one);
    }
}
