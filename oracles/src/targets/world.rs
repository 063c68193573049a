//! Programs whose callers honour their contract, under schedules of the fuzzer's choice: no invariant is violated.

use leasecheck_sim::hunt::{Ready, Runner, bytes};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Programs that are kept: preparing one takes as long as fifty runs of it.
const KEPT: usize = 4096;

/// One change of an input in so many is to its program, the others are to its schedule.
const PROGRAMS: u32 = 24;

#[derive(Default)]
struct State {
    programs: BTreeMap<Vec<u8>, Rc<Ready>>,
    last: Option<Rc<Ready>>,
    runner: Runner,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Runs the program and the schedule that the bytes stand for.
pub fn run(data: &[u8]) {
    let (program, schedule) = bytes::split(data);
    let violation = STATE.with_borrow_mut(|State { programs, last, runner }| {
        let ready = if let Some(ready) = programs.get(program) {
            Rc::clone(ready)
        } else {
            let ready = bytes::prepare(program).unwrap_or_else(|wrong| panic!("no program: {wrong}"));
            if programs.len() == KEPT {
                programs.clear();
            }
            Rc::clone(programs.entry(program.to_vec()).or_insert(Rc::new(ready)))
        };
        let fresh = !last.as_ref().is_some_and(|last| Rc::ptr_eq(last, &ready));
        let end = bytes::run(runner, &ready, fresh, schedule);
        *last = Some(ready);
        end.violation
    });
    if let Some(violation) = violation {
        panic!("{}: {}", violation.code.name(), violation.message);
    }
}

/// Changes the first `size` bytes, to `most` at most, and says how many there are then: the program or, mostly, the
/// schedule, and the other one stays. `change` does the same with any bytes; `seed` decides.
pub fn mutate(
    data: &mut [u8],
    size: usize,
    most: usize,
    seed: u32,
    change: impl Fn(&mut [u8], usize, usize) -> usize,
) -> usize {
    let (program, schedule) = bytes::split(&data[..size]);
    let (length, schedule) = (program.len(), schedule.to_vec());
    let start = 1 + length;
    if size < start || most < size || most == start {
        return change(data, size, most);
    }
    let longest = (most - 1 - schedule.len()).min(u8::MAX.into());
    if longest == 0 || !seed.is_multiple_of(PROGRAMS) {
        return start + change(&mut data[start..], schedule.len(), most - start);
    }
    let length = change(&mut data[1..], length, longest);
    data[0] = length as u8;
    data[1 + length..][..schedule.len()].copy_from_slice(&schedule);
    1 + length + schedule.len()
}
