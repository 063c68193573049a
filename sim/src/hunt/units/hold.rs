//! Keeping pages where they are while someone holds their address, in one of the ways that the design offers.

use super::step;
use crate::hunt::draft::Stmt;
use crate::hunt::swarm::Feature;
use crate::hunt::workload::Workload;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Lease,
    Pin,
    /// A flag that closes the device's gate.
    Gate,
}

/// What holds the pages of one transfer still.
pub(super) struct Hold {
    device: Option<(Kind, String)>,
    host: Option<(Kind, String)>,
    flag: String,
}

impl Hold {
    /// Ways to hold these pages, drawn.
    pub(super) fn draw(work: &mut Workload, thread: usize, device: Option<&str>, host: Option<&str>) -> Hold {
        let device = device
            .map(|pages| (*work.draws.pick(&[Kind::Lease, Kind::Lease, Kind::Pin, Kind::Gate]), pages.to_owned()));
        let host =
            host.map(|pages| (*work.draws.pick(&[Kind::Lease, Kind::Lease, Kind::Lease, Kind::Pin]), pages.to_owned()));
        Hold { device, host, flag: Workload::flag(thread) }
    }

    fn leased(&self) -> Vec<&'static str> {
        let lease = |side: &Option<(Kind, String)>, arena| match side {
            Some((Kind::Lease, _)) => Some(arena),
            _ => None,
        };
        [lease(&self.device, "device"), lease(&self.host, "host")].into_iter().flatten().collect()
    }

    /// From here on, the pages stay.
    pub(super) fn begin(&self, work: &mut Workload, out: &mut Vec<Stmt>) {
        let mut leased = self.leased();
        if leased.len() > 1 && work.draws.chance(50) {
            // The order in which a caller names arenas must not matter.
            leased.reverse();
        }
        if leased.len() == 1 && work.draws.chance(20) {
            // A transfer of two pools that share a layout names it twice.
            leased.push(leased[0]);
        }
        if !leased.is_empty() {
            out.push(step!("lease acquire {}", leased.join(", ")));
        }
        for (arena, side) in [("device", &self.device), ("host", &self.host)] {
            let Some((kind, pages)) = side.as_ref().filter(|(kind, _)| *kind != Kind::Lease) else { continue };
            // A capacity that was asked before must not be believed after: what can move has changed.
            let asked = work.swarm.has(Feature::Capacity) && work.draws.chance(50);
            let band = *work.draws.pick(&["full", "swa"]);
            let mut ask = |out: &mut Vec<Stmt>| {
                let q = work.name("q");
                out.extend(asked.then(|| step!("available {arena}.{band} -> {q}")));
            };
            ask(out);
            match kind {
                Kind::Lease => {}
                Kind::Pin => out.push(step!("pin {pages}")),
                Kind::Gate => out.push(step!("set {}", self.flag)),
            }
            ask(out);
        }
    }

    /// Holds until `done`, which has been recorded. Whether the host knows then that it has completed.
    pub(super) fn end(&self, work: &mut Workload, done: &str, out: &mut Vec<Stmt>) -> bool {
        let waits = work.draws.chance(work.swarm.patience)
            || [&self.device, &self.host].into_iter().flatten().any(|(kind, _)| *kind != Kind::Lease);
        let hands_off = !waits || work.draws.chance(50);
        if work.draws.chance(20) {
            // What looks an address up meanwhile leases the layout again.
            for arena in self.leased() {
                out.push(step!("lease acquire {arena}"));
                out.push(step!("lease release {arena}"));
            }
        }
        if hands_off {
            out.extend(self.leased().iter().map(|arena| step!("lease hand off {done} of {arena}")));
        }
        if waits && work.draws.chance(30) {
            // A caller that polls first, and waits if the answer is no, or no answer.
            let q = work.name("q");
            out.push(step!("query {done} -> {q}"));
            out.push(super::block(format!("if not {q}"), vec![step!("sync {done}")]));
        } else if waits && work.draws.chance(40) {
            // A wait that fails says nothing about the event: the caller waits again.
            let ok = work.name("q");
            out.push(step!("try sync {done} -> {ok}"));
            out.push(super::block(format!("if not {ok}"), vec![step!("sync {done}")]));
        } else if waits {
            out.push(step!("sync {done}"));
        }
        if !hands_off {
            out.extend(self.leased().iter().map(|arena| step!("lease release {arena}")));
        }
        for (kind, pages) in [&self.host, &self.device].into_iter().flatten() {
            match kind {
                Kind::Lease => {}
                Kind::Pin => out.push(step!("unpin {pages}")),
                Kind::Gate => out.push(step!("unset {}", self.flag)),
            }
        }
        waits
    }
}
