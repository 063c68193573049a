//! Tests the tests: every mistake that the shell can be made to make is noticed by a loom model.

use leasecheck_core::shell::Fault;
use leasecheck_models::{Kind, mutants, replay};

#[test]
fn every_fault_is_caught() {
    let mutants = mutants();
    assert!(mutants.len() >= 10);
    for mutant in &mutants {
        let fault = mutant.fault;
        let row =
            mutant.caught.as_ref().unwrap_or_else(|| panic!("no model notices `{}`: {}", fault.name(), fault.doc()));
        let failure = row.verdict.failure().expect("rows of caught faults have a failure");
        let again = replay(&failure.token).expect("the token of a failure is a token");
        assert_eq!(again.verdict.failure(), Some(failure), "{}", failure.token);
        // A missing notification is told from a wait that nothing could end.
        let kind = match fault {
            Fault::ReleaseIsSilent
            | Fault::CompletionIsSilent
            | Fault::CompactionEndIsSilent
            | Fault::FreeIsSilent
            | Fault::DestroyIsSilent
            | Fault::WakesBeforeRelease => Some(Kind::LostWakeup),
            Fault::PanicKeepsLease
            | Fault::LateHandOffIsRecorded
            | Fault::LostEventIsWaitedFor
            | Fault::LayoutsInCallerOrder => Some(Kind::Deadlock),
            Fault::NewLeasesOvertake | Fault::FlagInsteadOfQueue | Fault::FailureKeepsWaiting => Some(Kind::Starvation),
            Fault::LeaseInTwoSteps | Fault::ReleasesBeforeUse | Fault::DestroyIgnoresEvents => Some(Kind::Race),
            Fault::HandOffInTwoSteps
            | Fault::PlanIsNotRechecked
            | Fault::WakeMeansReady
            | Fault::FailureForgetsMoves => None,
        };
        assert!(kind.is_none_or(|kind| kind == failure.kind), "{}: {}", fault.name(), failure.kind.name());
    }
}
