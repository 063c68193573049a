//! Core beside the trace: what the design named in the header would have answered.
//!
//! After the first answer that differs core cannot follow: the arena is compared no further, and the report says so.

use super::arena::grow;
use super::{Checker, Code, Say, say};
use crate::format::{ArenaDef, Design, Pages};
use leasecheck_core::{
    Admission, ArenaConfig, BandConfig, BandId, Ids, LogicalPage, Move, Plan, Planner, Request, Reuse, Rule, Rules,
};
use std::collections::VecDeque;

/// Core's arena, and its plan while a compaction goes on.
#[derive(Debug)]
pub(crate) struct Beside {
    pub(super) arena: leasecheck_core::Arena,
    /// The moves of the compaction that are still to come, per band.
    compaction: Option<(Plan, Vec<VecDeque<Move>>)>,
}

fn everything(_: BandId, _: LogicalPage) -> bool {
    true
}

impl Beside {
    pub(super) fn new(def: &ArenaDef, design: Design) -> Result<Beside, String> {
        let mut bands = Vec::new();
        for band in &def.bands {
            let (Some(direction), None, false) = (band.grow, &band.ids_of, def.sink) else {
                return Err("a `design` is for host arenas: bands with `grow` and own ids, no sink".into());
            };
            bands.push(BandConfig {
                name: band.name.to_string(),
                envelope: band.envelope,
                page_tokens: band.page_tokens,
                layers: 1,
                grow: grow(direction),
                ids: Ids::Own,
            });
        }
        let planner = match design {
            Design::Sglang0523 => Planner::Slide,
            Design::Leasecheck => Planner::Minimal,
        };
        let arena = leasecheck_core::Arena::new(ArenaConfig {
            bytes: def.bytes,
            bands,
            sink: false,
            reuse: Reuse::AsDesigned,
            permuted: false,
            planner,
            rules: Rules::all(),
        });
        Ok(Beside { arena: arena.map_err(|error| error.to_string())?, compaction: None })
    }

    fn begin(&mut self) {
        let plan = self.arena.plan(&everything);
        let mut moves = vec![VecDeque::new(); self.arena.bands().count()];
        for step in plan.moves() {
            moves[step.band.0 as usize].push_back(*step);
        }
        self.compaction = Some((plan, moves));
    }

    /// The design's next move of the band in the compaction that goes on, or begins with it.
    pub(super) fn next_move(&mut self, band: usize) -> Option<Move> {
        if self.compaction.is_none() {
            self.begin();
        }
        self.compaction.as_mut().and_then(|(_, moves)| moves[band].pop_front())
    }

    /// Ends the compaction whose moves were seen. Returns a move of the design that was not made.
    pub(super) fn settle(&mut self) -> Option<Move> {
        let (plan, moves) = self.compaction.take()?;
        self.arena.commit(&plan, None);
        moves.iter().find_map(|band| band.front()).copied()
    }

    /// Ends a compaction that has run to its end, also if it moved nothing.
    pub(super) fn end(&mut self) -> Option<Move> {
        if self.compaction.is_none() {
            self.begin();
        }
        self.settle()
    }

    /// Whether moves of a compaction were seen whose end was not.
    pub(super) fn moving(&self) -> bool {
        self.compaction.is_some()
    }

    pub(super) fn free_bytes(&self) -> u64 {
        let holes = self.arena.bands().map(|(id, band)| u64::from(self.arena.holes(id)) * band.envelope);
        self.arena.gap() + holes.sum::<u64>()
    }

    pub(super) fn available(&self, band: usize) -> u64 {
        u64::from(self.arena.available(BandId(band as u8), everything))
    }

    pub(super) fn admission(&self, requests: &[Request], empty: bool) -> Admission {
        if empty {
            return self.arena.emptied().admission(requests, everything);
        }
        self.arena.admission(requests, everything)
    }
}

/// Something core would have done otherwise.
pub(super) struct Differs {
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) allowed: String,
    pub(super) guard: Rule,
}

/// What the trace says of an allocation.
pub(super) struct Granted<'a> {
    pub(super) requests: &'a [Request],
    pub(super) ids: &'a Pages,
    pub(super) at: Option<&'a Pages>,
}

impl Beside {
    /// An allocation that was granted.
    pub(super) fn granted(&mut self, trace: &Granted<'_>) -> Result<(), Differs> {
        match self.arena.admission(trace.requests, everything) {
            Admission::FitsNow => {}
            Admission::FitsPacked => {
                return Err(Differs {
                    code: Code::Admission,
                    message: "the allocation was served although it fits only after a compaction".into(),
                    allowed: "first a compaction, then the allocation".into(),
                    guard: Rule::CompactionRechecksPlan,
                });
            }
            Admission::Refused(refusal) => {
                return Err(Differs {
                    code: Code::Admission,
                    message: format!("the allocation was served although it does not fit: {refusal}"),
                    allowed: "the allocation is refused".into(),
                    guard: Rule::JointBytes,
                });
            }
        }
        // Admission has said that it fits.
        let Ok(granted) = self.arena.allocate(trace.requests) else { return Ok(()) };
        let mut nth = 0;
        for (request, ids) in trace.requests.iter().zip(&granted) {
            for id in ids {
                let band = &self.arena.config().bands[request.band.0 as usize].name;
                let place = self.arena.translate(request.band, *id).map_or(u32::MAX, |at| at.0);
                if trace.ids.get(nth) != Some(&id.0) {
                    let theirs = trace.ids.get(nth).map_or("none".to_owned(), u32::to_string);
                    return Err(Differs {
                        code: Code::Mapping,
                        message: format!("page {theirs} of {band} was handed out"),
                        allowed: format!("page {id} of {band}, the lowest free id"),
                        guard: Rule::FreesAreChecked,
                    });
                }
                if let Some(theirs) = trace.at.and_then(|at| at.get(nth))
                    && *theirs != place
                {
                    return Err(Differs {
                        code: Code::Mapping,
                        message: format!("page {id} of {band} was placed at physical page {theirs}"),
                        allowed: format!(
                            "physical page {place}: holes nearest the band's own end first, then the frontier"
                        ),
                        guard: Rule::HolesBeforeMoves,
                    });
                }
                nth += 1;
            }
        }
        Ok(())
    }
}

impl Checker {
    /// Moves are over: something else happens in the arena.
    pub(super) fn settle(&mut self, arena: usize) {
        if let Some(beside) = &mut self.arenas[arena].beside
            && let Some(missing) = beside.settle()
        {
            self.not_moved(arena, missing);
        }
    }

    /// A compaction has ended without a move of the design.
    pub(super) fn not_moved(&mut self, arena: usize, missing: Move) {
        self.answer(arena, Code::Mapping, false, |checker| {
            let name = checker.page_name(arena, missing.band.0.into(), missing.id.0);
            say(
                format!("the compaction is over and {name} is still at physical page {}", missing.from),
                format!("{name} moves to physical page {}", missing.to),
            )
            .guard(Rule::CompactionRechecksPlan)
        });
    }

    /// The arena parts from the design in this line: it is compared no further.
    pub(super) fn part(&mut self, arena: usize) {
        self.arenas[arena].beside = None;
        self.arenas[arena].parted.get_or_insert(self.line);
    }

    /// Holds an answer against the design's. What invariants have found in this line already is not said twice.
    pub(super) fn answer(&mut self, arena: usize, code: Code, holds: bool, words: impl FnOnce(&Checker) -> Say) {
        let said = self.findings.last().is_some_and(|last| last.line == self.line);
        if !holds && said {
            self.part(arena);
            return;
        }
        self.check(code, holds, words);
        if !holds {
            self.part(arena);
        }
    }

    pub(super) fn differs(&mut self, arena: usize, differs: Differs) {
        let Differs { code, message, allowed, guard } = differs;
        self.answer(arena, code, false, |_| say(message, allowed).guard(guard));
    }
}
