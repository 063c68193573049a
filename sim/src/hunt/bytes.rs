//! Runs whose choices come from bytes instead of a seed: what coverage-guided fuzzers drive.
//!
//! The first byte says how many of the following are the program's; the rest are the schedule's. Choices beyond the last
//! byte are the first alternative.

use super::draft::{Claim, Draft};
use super::draws::Draws;
use super::identity;
use super::run::{End, Ready, Runner};
use super::schedulers::Uniform;
use super::shrink::{Effort, shrink};
use super::workload;
use super::{Settings, find};

/// The bytes of the program, and those of the schedule.
#[must_use]
pub fn split(data: &[u8]) -> (&[u8], &[u8]) {
    let Some((length, rest)) = data.split_first() else { return (&[], &[]) };
    rest.split_at(rest.len().min(usize::from(*length)))
}

fn draft(program: &[u8]) -> Draft {
    workload::draw_from(Draws::from_bytes(program), &Settings::default())
}

/// The program of these bytes, with its set-up run.
///
/// # Errors
/// When the program is no litmus file or cannot start, which is a defect of the generator or of the loader.
pub fn prepare(program: &[u8]) -> Result<Ready, String> {
    Ready::new(draft(program).compile()?).map_err(|error| format!("the set-up fails: {error:?}"))
}

/// Runs a program under the schedule of these bytes. `fresh` says that the runner's last run was of another program.
pub fn run(runner: &mut Runner, ready: &Ready, fresh: bool, schedule: &[u8]) -> End {
    runner.run(ready, fresh, &mut Uniform::new(Draws::from_bytes(schedule)))
}

/// The litmus file of the bytes' run: shrunk, if it fails; as drawn, if it does not.
///
/// # Errors
/// As [`prepare`].
pub fn write_up(data: &[u8], effort: Effort) -> Result<String, String> {
    let (program, schedule) = split(data);
    let draft = draft(program);
    let program = draft.compile()?;
    let ready = Ready::new(program.clone()).map_err(|error| format!("the set-up fails: {error:?}"))?;
    let mut runner = Runner::default();
    let end = runner.run(&ready, true, &mut Uniform::new(Draws::from_bytes(schedule)));
    let mut claim = Claim {
        name: "fuzzed",
        source: "a fuzzer's input",
        claim: "A program whose callers honour their contract violates nothing",
        expect: None,
        witness: &[],
    };
    let Some(violation) = end.violation else { return Ok(draft.render(&claim)) };
    let code = violation.code;
    let identity = identity::of(&program, &runner.schedule, &violation);
    let run = (&identity, violation, runner.schedule.clone());
    let shrunk = shrink((draft, program), run, (&Settings::default(), find::Blame::Everything), effort);
    let text = format!("A fuzzed run violates {}: {}", code.name(), shrunk.violation.message.replace(['"', '\\'], "'"));
    claim = Claim { claim: &text, expect: Some(code), ..claim };
    let witness = find::confirm(&shrunk.draft, &claim, code).unwrap_or_default();
    claim.witness = &witness[..witness.len().min(find::WITNESSES)];
    Ok(shrunk.draft.render(&claim))
}
