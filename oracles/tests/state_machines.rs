//! The arena, the device pool and the lease table as state machines: calls are drawn for the state that the naive model
//! is in, made on the core, and shrunk when the two differ.
//!
//! A failure is kept as a list of calls in `oracles/tests/operations/NAME`, one JSON value a line, which every later
//! run makes first. The lists are for people as well: they can be written and changed by hand.

use arbitrary::Unstructured;
use leasecheck_core::{ArenaConfig, BandId, EventKey, PhysicalPage, Rule, Rules};
use leasecheck_oracles::call::{Call, Kind, event, layout, pages, requests};
use leasecheck_oracles::lease_call::{EVENTS, HOLDERS, LeaseCall};
use leasecheck_oracles::lease_model::LeaseModel;
use leasecheck_oracles::model::Model;
use leasecheck_oracles::{lease_call, pair};
use proptest::prelude::*;
use proptest::sample::subsequence;
use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// The model, and the bytes that its layout was drawn from.
#[derive(Clone, Debug)]
struct Reference {
    drawn: Layout,
    model: Model,
    /// Flags that are raised; each closes the gate.
    raised: u64,
}

/// The first line of a list of calls.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Layout {
    layout: Vec<u8>,
}

impl Layout {
    fn config(&self, kind: Kind) -> Option<ArenaConfig> {
        layout(&mut Unstructured::new(&self.layout), kind).ok()
    }
}

fn initial(kind: Kind) -> BoxedStrategy<Reference> {
    // Without floats: where those grow is the arena's choice, which the model alone cannot know.
    let drawn = (prop::collection::vec(any::<u8>(), 4), 0_u8..4);
    let drawn = drawn.prop_filter_map("an impossible layout", move |(mut layout, bands)| {
        layout.push(bands);
        let drawn = Layout { layout };
        let model = Model::new(&drawn.config(kind)?)?;
        Some(Reference { drawn, model, raised: 0 })
    });
    drawn.boxed()
}

/// Calls that make sense: the ids are live in the band.
fn calls(state: &Reference, kind: Kind) -> BoxedStrategy<Call> {
    let bands = state.model.bands().count() as u8;
    let after = || prop_oneof![2 => Just(None), 1 => (0_u32..3).prop_map(Some)];
    let mut all = vec![
        (6, prop::collection::vec((0..bands, 0_u32..7), 1..4).prop_map(Call::Allocate).boxed()),
        (1, (0..bands).prop_map(Call::Clear).boxed()),
        (2, (0_u32..3).prop_map(Call::Complete).boxed()),
        (
            3,
            (prop::option::of(0..bands), subsequence((0_u32..12).collect::<Vec<_>>(), 0..4), after())
                .prop_map(|(only, pinned, pend)| Call::Compact { only, pinned, pend })
                .boxed(),
        ),
    ];
    if kind == Kind::Pool {
        all.push((1, (0_u32..3, any::<bool>()).prop_map(|(flag, up)| Call::Flag(flag, up)).boxed()));
    }
    for band in 0..bands {
        let waiting: Vec<u32> = state.model.view(band).pending.into_iter().map(|(page, _)| page).collect();
        if !waiting.is_empty() {
            let also = (subsequence(waiting, 1..=1), 0_u32..3);
            all.push((2, also.prop_map(move |(pages, event)| Call::AwaitAlso { band, pages, event }).boxed()));
        }
        let live: Vec<u32> = state.model.live(band).map(|(id, _)| id).collect();
        if live.is_empty() {
            continue;
        }
        let some = move |ids: Vec<u32>| {
            let most = ids.len().min(4);
            subsequence(ids, 1..=most)
        };
        let free = (some(live.clone()), after()).prop_map(move |(ids, after)| Call::Free { band, ids, after });
        all.push((3, free.boxed()));
        if state.model.config().bands[usize::from(band)].ids != leasecheck_core::Ids::Own {
            let release =
                (some(live.clone()), after()).prop_map(move |(ids, after)| Call::Tombstone { band, ids, after });
            all.push((3, release.boxed()));
        } else if bands == 2 && band == 0 {
            all.push((2, some(live).prop_map(|ids| Call::Bind { band: 1, ids }).boxed()));
        }
    }
    prop::strategy::Union::new_weighted(all).boxed()
}

fn apply(mut state: Reference, call: &Call) -> Reference {
    let model = &mut state.model;
    // What is refused changes nothing.
    match call {
        Call::Allocate(parts) => drop(model.allocate(&requests(parts))),
        Call::Free { band, ids, after } => drop(model.free(BandId(*band), &pages(ids), event(*after))),
        Call::Tombstone { band, ids, after } => drop(model.tombstone(BandId(*band), &pages(ids), event(*after))),
        Call::Bind { band, ids } => drop(model.bind(BandId(*band), &pages(ids))),
        Call::Clear(band) => model.clear(BandId(*band)),
        Call::Complete(event) => model.event_completed(EventKey(*event)),
        Call::Compact { only, pinned, pend } => {
            let open = state.raised == 0;
            let planned = model.plan(only.map(BandId), &|_, id| open && !pinned.contains(&id.0));
            model.commit(&planned, event(*pend));
        }
        Call::MakeRoom { .. } => unreachable!("there are no floats"),
        Call::AwaitAlso { band, pages, event } => {
            let pages: Vec<PhysicalPage> = pages.iter().copied().map(PhysicalPage).collect();
            model.await_also(BandId(*band), &pages, EventKey(*event));
        }
        Call::Flag(flag, true) => state.raised |= 1 << flag,
        Call::Flag(flag, false) => state.raised &= !(1 << flag),
    }
    state
}

fn sensible(state: &Reference, call: &Call) -> bool {
    let live = |band: u8, ids: &[u32]| ids.iter().all(|id| state.model.place(band, *id).is_some());
    match call {
        Call::Free { band, ids, .. } | Call::Tombstone { band, ids, .. } => live(*band, ids),
        Call::Bind { ids, .. } => live(0, ids),
        _ => true,
    }
}

macro_rules! arena_machine {
    ($name:ident, $kind:expr, $rules:expr) => {
        struct $name;

        impl ReferenceStateMachine for $name {
            type State = Reference;
            type Transition = Call;

            fn init_state() -> BoxedStrategy<Reference> {
                initial($kind)
            }

            fn transitions(state: &Reference) -> BoxedStrategy<Call> {
                calls(state, $kind)
            }

            fn apply(state: Reference, call: &Call) -> Reference {
                apply(state, call)
            }

            fn preconditions(state: &Reference, call: &Call) -> bool {
                sensible(state, call)
            }
        }

        impl StateMachineTest for $name {
            type SystemUnderTest = pair::Pair;
            type Reference = $name;

            fn init_test(state: &Reference) -> pair::Pair {
                pool(&state.drawn, $kind, $rules).expect("a possible layout")
            }

            fn apply(mut pair: pair::Pair, _: &Reference, call: Call) -> pair::Pair {
                pair.make(call);
                pair
            }

            fn teardown(pair: pair::Pair) {
                pair.finish();
            }
        }

        impl Kept for $name {
            type Head = Layout;

            fn head(state: &Reference) -> Layout {
                state.drawn.clone()
            }

            fn replay(head: Layout, calls: Vec<Call>) {
                let mut pair = pool(&head, $kind, $rules).expect("a possible layout");
                calls.into_iter().for_each(|call| pair.make(call));
                pair.finish();
            }
        }
    };
}

fn pool(drawn: &Layout, kind: Kind, rules: Rules) -> Option<pair::Pair> {
    let config = ArenaConfig { rules, ..drawn.config(kind)? };
    pair::Pair::new(&config, vec![0b111])
}

arena_machine!(ArenaMachine, Kind::Arena, Rules::all());
arena_machine!(PoolMachine, Kind::Pool, Rules::all());
// A pool whose batches under one event replace each other: what a fault looks like.
arena_machine!(FaultyPool, Kind::Pool, Rules::all().without(Rule::BatchesAccumulate));

struct LeaseMachine;

impl ReferenceStateMachine for LeaseMachine {
    type State = LeaseModel;
    type Transition = LeaseCall;

    fn init_state() -> BoxedStrategy<LeaseModel> {
        Just(LeaseModel::default()).boxed()
    }

    fn transitions(_: &LeaseModel) -> BoxedStrategy<LeaseCall> {
        let (holder, event) = (0..HOLDERS, 0..EVENTS);
        let ttl = prop_oneof![3 => Just(None), 1 => (0_u32..4).prop_map(Some)];
        prop_oneof![
            5 => (holder.clone(), ttl).prop_map(|(holder, ttl)| LeaseCall::Acquire { holder, ttl }),
            2 => holder.clone().prop_map(|holder| LeaseCall::AcquireInTurn { holder }),
            1 => holder.clone().prop_map(|holder| LeaseCall::Withdraw { holder }),
            5 => holder.clone().prop_map(|holder| LeaseCall::Release { holder }),
            3 => (holder.clone(), event.clone()).prop_map(|(holder, event)| LeaseCall::HandOff { holder, event }),
            3 => event.clone().prop_map(|event| LeaseCall::Complete { event }),
            1 => event.prop_map(|event| LeaseCall::QueryFailed { event }),
            1 => holder.clone().prop_map(|holder| LeaseCall::WaitFailed { holder }),
            1 => Just(LeaseCall::Tick),
            4 => holder.clone().prop_map(|holder| LeaseCall::Request { holder }),
            3 => holder.prop_map(|holder| LeaseCall::End { holder }),
        ]
        .boxed()
    }

    fn apply(mut model: LeaseModel, call: &LeaseCall) -> LeaseModel {
        lease_call::apply(&mut model, call);
        model
    }

    /// A holder that waits for its turn does nothing but give up.
    fn preconditions(model: &LeaseModel, call: &LeaseCall) -> bool {
        let waits = |holder: u32| model.queue.iter().any(|(other, _)| *other == holder);
        matches!(call, LeaseCall::Withdraw { .. }) || !call.holder().is_some_and(waits)
    }
}

impl StateMachineTest for LeaseMachine {
    type SystemUnderTest = lease_call::Pair;
    type Reference = LeaseMachine;

    fn init_test(_: &LeaseModel) -> lease_call::Pair {
        lease_call::Pair::default()
    }

    fn apply(mut pair: lease_call::Pair, _: &LeaseModel, call: LeaseCall) -> lease_call::Pair {
        pair.make(&call);
        pair
    }
}

impl Kept for LeaseMachine {
    type Head = ();

    fn head(_: &LeaseModel) {}

    fn replay((): (), calls: Vec<LeaseCall>) {
        let mut pair = lease_call::Pair::default();
        calls.iter().for_each(|call| pair.make(call));
    }
}

/// A machine whose failures are kept as lists of calls.
trait Kept: StateMachineTest
where
    <Self::Reference as ReferenceStateMachine>::Transition: Serialize + DeserializeOwned,
{
    /// What a list begins with.
    type Head: Serialize + DeserializeOwned;

    fn head(state: &<Self::Reference as ReferenceStateMachine>::State) -> Self::Head;

    fn replay(head: Self::Head, calls: Vec<<Self::Reference as ReferenceStateMachine>::Transition>);
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/operations").join(name)
}

fn replay<M: Kept>(path: &Path)
where
    <M::Reference as ReferenceStateMachine>::Transition: Serialize + DeserializeOwned,
{
    let text = std::fs::read_to_string(path).expect("lists can be read");
    let mut lines = text.lines();
    let wrong = |error: serde_json::Error| format!("{}: {error}", path.display());
    let head = serde_json::from_str(lines.next().unwrap_or("null")).map_err(wrong).expect("a first line");
    let calls = lines.map(|line| serde_json::from_str(line).map_err(wrong).expect("a call")).collect();
    M::replay(head, calls);
}

/// Draws so many lists of calls, the same on every run; the first that fails is shrunk and kept.
fn search<M: Kept>(cases: u32, keep: &Path) -> Result<(), PathBuf>
where
    <M::Reference as ReferenceStateMachine>::Transition: Serialize + DeserializeOwned,
{
    let rng_seed = RngSeed::Fixed(0x1ea5_ec4e);
    let config = Config { cases, rng_seed, failure_persistence: None, max_shrink_iters: 4_000, ..Config::default() };
    let strategy = <M::Reference as ReferenceStateMachine>::sequential_strategy(1..40);
    let result = TestRunner::new(config.clone()).run(&strategy, |(state, calls, seen)| {
        M::test_sequential(config.clone(), state, calls, seen);
        Ok(())
    });
    match result {
        Ok(()) => Ok(()),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
        Err(TestError::Fail(_, (state, calls, _))) => {
            let mut text = serde_json::to_string(&M::head(&state)).expect("JSON");
            for call in &calls {
                text.push('\n');
                text.push_str(&serde_json::to_string(call).expect("JSON"));
            }
            std::fs::create_dir_all(keep).expect("lists can be written");
            let digest = text.bytes().fold(0_u32, |digest, byte| digest.rotate_left(5) ^ u32::from(byte));
            let path = keep.join(format!("{digest:08x}.jsonl"));
            std::fs::write(&path, text + "\n").expect("lists can be written");
            Err(path)
        }
    }
}

fn holds<M: Kept>(name: &str, cases: u32)
where
    <M::Reference as ReferenceStateMachine>::Transition: Serialize + DeserializeOwned,
{
    let mut lists: Vec<PathBuf> =
        std::fs::read_dir(folder(name)).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    lists.sort();
    assert!(!lists.is_empty(), "no list of calls in {}", folder(name).display());
    lists.iter().for_each(|path| replay::<M>(path));
    if let Err(path) = search::<M>(cases, &folder(name)) {
        panic!("the calls in {} fail; they are made first from now on", path.display());
    }
}

#[test]
fn the_arena_behaves_like_a_map_of_bytes() {
    holds::<ArenaMachine>("arena", 400);
}

#[test]
fn the_device_pool_behaves_like_a_map_of_bytes() {
    holds::<PoolMachine>("pool", 400);
}

#[test]
fn the_lease_table_behaves_like_lists() {
    holds::<LeaseMachine>("leases", 1_500);
}

/// A fault is found, shrunk to a list that a person can read, and fails again when the list is read back.
#[test]
fn a_fault_becomes_a_short_list_of_calls() {
    let keep = std::env::temp_dir().join(format!("leasecheck-operations-{}", std::process::id()));
    let path = search::<FaultyPool>(4_000, &keep).expect_err("the fault is found");
    let text = std::fs::read_to_string(&path).expect("kept");
    let fails = catch_unwind(AssertUnwindSafe(|| replay::<FaultyPool>(&path))).is_err();
    let fine = catch_unwind(AssertUnwindSafe(|| replay::<PoolMachine>(&path))).is_ok();
    std::fs::remove_dir_all(&keep).expect("kept");
    assert!(fails && fine, "{text}");
    assert!(text.lines().count() <= 10 && text.contains("\"compact\""), "{text}");
}
