//! Progress on a terminal, budgets of time, and Ctrl-C. Nothing here reaches a result, except that a budget that ran
//! out makes a verdict `truncated`.

use indicatif::{ProgressBar, ProgressStyle};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What is under way.
pub struct Progress {
    bar: ProgressBar,
    /// Distinct states of the case under way.
    pub states: Arc<AtomicU64>,
    stopped: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

/// The time, for budgets and for people.
#[expect(clippy::disallowed_methods, reason = "budgets and progress are about wall time; no result depends on it")]
pub fn now() -> Instant {
    Instant::now()
}

impl Progress {
    /// Starts a spinner (on a terminal only), the budget, and listens to Ctrl-C.
    pub fn start(limit_seconds: Option<u64>) -> Progress {
        let stopped = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stopped);
        // Without a handler, Ctrl-C ends the program at once, which loses results but is not wrong.
        let _ = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed));
        let states = Arc::new(AtomicU64::new(0));
        let bar = ProgressBar::new_spinner();
        let shown = Arc::clone(&states);
        let started = now();
        let style = ProgressStyle::with_template("{spinner} {msg}  {states}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner());
        bar.set_style(style.with_key("states", move |_: &indicatif::ProgressState, out: &mut dyn std::fmt::Write| {
            let states = shown.load(Ordering::Relaxed);
            let seconds = started.elapsed().as_secs().max(1);
            // A spinner that cannot be drawn is no error.
            let _ = write!(out, "{states} states, {} s", seconds);
        }));
        bar.enable_steady_tick(Duration::from_millis(200));
        Progress { bar, states, stopped, deadline: limit_seconds.map(|seconds| started + Duration::from_secs(seconds)) }
    }

    /// Begins the budget now instead.
    pub fn limit(&mut self, seconds: Option<u64>) {
        self.deadline = seconds.map(|seconds| now() + Duration::from_secs(seconds));
    }

    /// Says what is under way now.
    pub fn say(&self, what: &str) {
        self.bar.set_message(what.to_owned());
    }

    /// Whether to stop: Ctrl-C, or the budget.
    pub fn interrupted(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) || self.deadline.is_some_and(|deadline| now() >= deadline)
    }

    /// Takes the spinner away.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}
