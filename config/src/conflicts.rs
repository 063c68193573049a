//! The smallest sets of gates that together leave nothing of a formula.
//!
//! A set of gates blocks a formula if each of its configurations is rejected by one of them. The search keeps
//! *corrections*: for some configuration, the gates that reject it (as few as can be). A blocking set has to contain
//! a gate of every correction, so it is enough to try the sets that do, small ones first; each attempt either is an
//! answer (the solver proves it) or yields a new correction. This finds every smallest set.

use std::collections::BTreeSet;

use batsat::Lit;

use crate::sat::Sat;

/// The most sets that are listed.
pub(crate) const MAX_SETS: usize = 32;
/// The most sets that are tried for a finding before the search settles for one from which no gate can be left out.
pub(crate) const THOROUGH: usize = 20_000;
/// The same for a remark, of which a file can have as many as gates.
pub(crate) const BRIEF: usize = 1_000;

/// The smallest blocking sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conflicts {
    /// Sorted sets of gates, in order. One empty set means that nothing is there to block.
    pub sets: Vec<Vec<usize>>,
    /// No smaller set exists (proved).
    pub smallest: bool,
    /// There is no other set of this size (proved).
    pub complete: bool,
}

/// The smallest sets of `gates` (number and literal of "rejects") that leave nothing of `assumed`; `None` if even all
/// of them together leave something.
pub(crate) fn smallest(sat: &mut Sat, assumed: &[Lit], gates: &[(usize, Lit)], patience: usize) -> Option<Conflicts> {
    let mut search =
        Search { sat, assumed, gates, corrections: Vec::new(), found: BTreeSet::new(), steps: 0, patience };
    let everything: Vec<usize> = (0..gates.len()).collect();
    if search.passes(&everything) {
        return None;
    }
    for size in 0..=gates.len() {
        let finished = search.extend(&mut Vec::new(), &BTreeSet::new(), size);
        if !search.found.is_empty() {
            return Some(Conflicts { sets: search.answers(), smallest: true, complete: finished });
        }
        if !finished {
            break;
        }
    }
    let irreducible = search.irreducible(everything);
    search.found.insert(irreducible);
    Some(Conflicts { sets: search.answers(), smallest: false, complete: false })
}

struct Search<'a> {
    sat: &'a mut Sat,
    assumed: &'a [Lit],
    gates: &'a [(usize, Lit)],
    /// Positions in `gates`.
    corrections: Vec<Vec<usize>>,
    found: BTreeSet<Vec<usize>>,
    steps: usize,
    patience: usize,
}

impl Search<'_> {
    /// Whether something of the formula passes these gates.
    fn passes(&mut self, chosen: &[usize]) -> bool {
        let mut assumed = self.assumed.to_vec();
        assumed.extend(chosen.iter().map(|gate| !self.gates[*gate].1));
        self.sat.possible(&assumed)
    }

    /// Tries all sets of `size` gates that contain `chosen` and none of `banned`; `false` if a limit stopped it.
    fn extend(&mut self, chosen: &mut Vec<usize>, banned: &BTreeSet<usize>, size: usize) -> bool {
        self.steps += 1;
        if self.steps > self.patience || self.found.len() >= MAX_SETS {
            return false;
        }
        let open = self.corrections.iter().find(|correction| !correction.iter().any(|gate| chosen.contains(gate)));
        let correction = match open.cloned() {
            Some(correction) => correction,
            None if !self.passes(chosen) => {
                let mut set = chosen.clone();
                set.sort_unstable();
                self.found.insert(set);
                return true;
            }
            None => {
                let correction = self.correct(chosen);
                self.corrections.push(correction.clone());
                correction
            }
        };
        if chosen.len() == size {
            return true;
        }
        let mut banned = banned.clone();
        for gate in correction {
            // A gate that was tried is banned for its siblings, so that no set is tried twice.
            if !banned.insert(gate) {
                continue;
            }
            chosen.push(gate);
            let finished = self.extend(chosen, &banned, size);
            chosen.pop();
            if !finished {
                return false;
            }
        }
        true
    }

    /// The gates that reject some configuration which passes `chosen`, with as few of them as leaving any out allows.
    /// The last model is such a configuration.
    fn correct(&mut self, chosen: &[usize]) -> Vec<usize> {
        let mut passed: Vec<usize> = chosen.to_vec();
        let mut rejecting = self.rejecting();
        rejecting.retain(|gate| !passed.contains(gate));
        passed.extend((0..self.gates.len()).filter(|gate| !chosen.contains(gate) && !rejecting.contains(gate)));
        let mut settled = Vec::new();
        while let Some(gate) = rejecting.pop() {
            passed.push(gate);
            if self.passes(&passed) {
                // This model is nearer: it may pass more of them at once.
                let still = self.rejecting();
                passed.extend(rejecting.iter().filter(|gate| !still.contains(gate)));
                rejecting.retain(|gate| still.contains(gate));
            } else {
                passed.pop();
                settled.push(gate);
            }
        }
        settled.sort_unstable();
        settled
    }

    /// The gates that reject the last model.
    fn rejecting(&self) -> Vec<usize> {
        (0..self.gates.len()).filter(|gate| self.sat.modelled(self.gates[*gate].1)).collect()
    }

    /// A blocking set from which no gate can be left out.
    fn irreducible(&mut self, mut set: Vec<usize>) -> Vec<usize> {
        for gate in set.clone() {
            let without: Vec<usize> = set.iter().copied().filter(|other| *other != gate).collect();
            if !self.passes(&without) {
                set = without;
            }
        }
        set
    }

    fn answers(&self) -> Vec<Vec<usize>> {
        self.found.iter().map(|set| set.iter().map(|gate| self.gates[*gate].0).collect()).collect()
    }
}
