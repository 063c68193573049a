//! Random search for what nobody thought of: programs from a generator, schedules from schedulers, and what they find
//! shrunk into litmus files.
//!
//! ```
//! use leasecheck_sim::hunt::{Budget, Settings, campaign};
//!
//! let found = campaign(&Settings::default(), 0..64, &Budget::default());
//! assert_eq!(found.tally.runs, 64);
//! assert!(found.finds.is_empty(), "the design holds");
//! ```
//!
//! A *run* is a program, a schedule and a configuration, and is named by a seed and [`Settings`]: nothing else enters
//! it. [`SCHEDULES`] consecutive seeds share a program. Results do not depend on the number of workers, on how seeds
//! are cut into shards, or on when a campaign was interrupted and resumed.
//!
//! What this does not do: it proves nothing. A hunt without finds says how much was tried; [`crate::explore`] settles
//! a case for good.

pub mod ablation;
pub mod bytes;
mod campaign;
pub mod compare;
mod draft;
pub mod draws;
mod edits;
mod find;
mod identity;
mod reach;
mod run;
pub mod schedulers;
mod settings;
mod shrink;
mod swarm;
mod units;
mod workload;

pub use campaign::{Budget, Canary, Finds, Found, Tally, campaign, canary, shard};
pub use find::{Blame, Case, write_up};
pub use identity::Identity;
pub use reach::{UNREACHED, gaps, unreached};
pub use run::{End, Ready, Runner};
pub use settings::{RunToken, Settings, VERSION};
pub use shrink::{Effort, Shrunk};

use draft::Draft;
use draws::Draws;
use schedulers::{Choice, DelayBounded, Pct, Uniform};

/// Consecutive seeds that share a program, each with a schedule of its own.
pub const SCHEDULES: u64 = 32;

/// Purpose of the draws that make a schedule.
const SCHEDULE: u64 = 2;

/// The seed that programs are drawn from: the same for the seeds that share one.
fn program_seed(seed: u64) -> u64 {
    seed / SCHEDULES
}

/// The draft of a seed's program.
fn draft(settings: &Settings, seed: u64) -> Draft {
    workload::draw(program_seed(seed), settings)
}

/// The litmus file of a seed's program, as text. It claims that nothing is reachable.
#[must_use]
pub fn program_text(settings: &Settings, seed: u64) -> String {
    let token = RunToken { settings: settings.clone(), seed }.to_string();
    draft(settings, seed).render(&draft::Claim {
        name: "hunted",
        source: &token,
        claim: "A random program whose callers honour their contract violates nothing",
        expect: None,
        witness: &[],
    })
}

/// The program of a seed, with its set-up run; a text if the generator or the set-up is at fault.
///
/// # Errors
/// When the program is no litmus file or cannot start, which with all rules on is a defect of the generator.
pub fn prepare(settings: &Settings, seed: u64) -> Result<Ready, String> {
    let program = draft(settings, seed).compile()?;
    Ready::new(program).map_err(|error| format!("the set-up of seed {seed} fails: {error:?}"))
}

/// Takes the run of a seed. `fresh` says that the runner's last run was of another program.
pub fn run_seed(runner: &mut Runner, ready: &Ready, settings: &Settings, seed: u64, fresh: bool) -> End {
    let mut draws = Draws::new(seed, SCHEDULE);
    let length = ready.program.code.len();
    let choice = match settings.scheduler {
        Choice::Mixed => *draws.pick(&[Choice::Uniform, Choice::Uniform, Choice::Pct, Choice::Pct, Choice::Delay]),
        choice => choice,
    };
    match choice {
        Choice::Mixed | Choice::Uniform => runner.run(ready, fresh, &mut Uniform::new(draws)),
        Choice::Pct => {
            let changes = draws.between(1, 6);
            runner.run(ready, fresh, &mut Pct::new(draws, changes, length))
        }
        Choice::Delay => {
            let delays = draws.between(1, 6);
            runner.run(ready, fresh, &mut DelayBounded::new(draws, ready.program.agents.len(), delays, length))
        }
    }
}
