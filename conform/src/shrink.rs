//! A shorter sequence with the same difference.

use crate::campaign::Campaign;
use crate::compare::{Difference, Kind};
use crate::driver::Trouble;
use crate::protocol::{Call, Step};

/// Sequences that may be tried when each costs a driver, or a timeout.
const WHEN_BROKEN: u32 = 40;

/// Leaves out steps, and makes the others smaller, as long as the difference stays the same one.
pub(crate) fn shrink(
    campaign: &mut Campaign,
    mut steps: Vec<Step>,
    mut difference: Difference,
) -> Result<(Vec<Step>, Difference), Trouble> {
    steps.truncate(difference.step + 1);
    // A device pool hands out ids with a page in every band: what it is asked for belongs together.
    let device = matches!(&steps[0].call, Call::Reset { layout } if layout.device);
    let mut budget = campaign.settings.shrink;
    if difference.kind == Kind::Broken {
        budget = budget.min(WHEN_BROKEN);
    }
    let mut attempt = |steps: &mut Vec<Step>, difference: &mut Difference, candidate: Vec<Step>| {
        if budget == 0 || candidate.len() < 2 {
            return Ok(false);
        }
        budget -= 1;
        let found = campaign.sequence(&candidate)?.difference;
        let Some(found) = found.filter(|found| found.resembles(difference)) else { return Ok(false) };
        if campaign.settings.known.explains(&found).is_some() {
            return Ok(false);
        }
        *steps = candidate;
        steps.truncate(found.step + 1);
        *difference = found;
        Ok(true)
    };
    loop {
        let mut smaller = false;
        let mut chunk = (steps.len() / 2).max(1);
        loop {
            let mut from = 1;
            while from < steps.len() {
                let to = (from + chunk).min(steps.len());
                let mut candidate = steps.clone();
                candidate.drain(from..to);
                if attempt(&mut steps, &mut difference, candidate)? {
                    smaller = true;
                } else {
                    from = to;
                }
            }
            if chunk == 1 {
                break;
            }
            chunk /= 2;
        }
        // What belongs together, as a lease and its release, only goes together.
        let mut pairs = (1..steps.len()).flat_map(|one| (1..one).map(move |other| (one, other))).collect::<Vec<_>>();
        while let Some((one, other)) = pairs.pop() {
            if one >= steps.len() || smaller {
                break;
            }
            let mut candidate = steps.clone();
            candidate.remove(one);
            candidate.remove(other);
            smaller |= attempt(&mut steps, &mut difference, candidate)?;
        }
        for at in 1..steps.len() {
            if device && matches!(steps[at].call, Call::Alloc { .. }) {
                continue;
            }
            for call in simpler(&steps[at].call) {
                let mut candidate = steps.clone();
                let Some(step) = candidate.get_mut(at) else { break };
                step.call = call;
                if attempt(&mut steps, &mut difference, candidate)? {
                    smaller = true;
                    break;
                }
            }
        }
        if !smaller {
            return Ok((steps, difference));
        }
    }
}

/// Calls that ask for less.
fn simpler(call: &Call) -> Vec<Call> {
    let mut calls = Vec::new();
    match call {
        Call::Alloc { requests, stamp } => {
            for at in 0..requests.len() {
                let mut fewer = requests.clone();
                fewer.remove(at);
                calls.push(Call::Alloc { requests: fewer, stamp: *stamp });
                for tokens in [requests[at].1 / 2, requests[at].1 - requests[at].1.signum()] {
                    let mut less = requests.clone();
                    less[at].1 = tokens;
                    if less != *requests {
                        calls.push(Call::Alloc { requests: less, stamp: *stamp });
                    }
                }
            }
        }
        Call::Free { band, tokens } if tokens.len() > 1 => {
            for half in [&tokens[..tokens.len() / 2], &tokens[tokens.len() / 2..]] {
                calls.push(Call::Free { band: band.clone(), tokens: half.to_vec() });
            }
        }
        Call::Translate { band, tokens } if tokens.len() > 1 => {
            for half in [&tokens[..tokens.len() / 2], &tokens[tokens.len() / 2..]] {
                calls.push(Call::Translate { band: band.clone(), tokens: half.to_vec() });
            }
        }
        Call::Release { event: Some(event), key: Some(_) } => {
            calls.push(Call::Release { event: Some(*event), key: None });
        }
        _ => {}
    }
    calls
}
