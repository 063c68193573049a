//! A shorter sequence with the same difference.

use crate::campaign::Campaign;
use crate::compare::{Difference, Kind};
use crate::driver::Trouble;
use crate::protocol::{Call, Layout, Step};

/// Sequences that may be tried when each costs a driver, or a timeout.
const WHEN_BROKEN: u32 = 40;

/// Leaves out steps, and makes the others smaller, as long as the difference stays the same one.
pub(crate) fn shrink(
    campaign: &mut Campaign,
    mut steps: Vec<Step>,
    mut difference: Difference,
) -> Result<(Vec<Step>, Difference), Trouble> {
    let Some(Step { call: Call::Reset { layout }, .. }) = steps.first() else { return Ok((steps, difference)) };
    let layout = layout.clone();
    steps.truncate(difference.step + 1);
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
            let Some(step) = steps.get(at) else { break };
            for call in simpler(&step.call, &layout) {
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
fn simpler(call: &Call, layout: &Layout) -> Vec<Call> {
    match call {
        // A device pool hands out ids with a page in every band: what it is asked for belongs together.
        Call::Alloc { requests, stamp } if layout.device => {
            let one_less = |(band, tokens): &(String, i64)| (band.clone(), tokens - page_tokens(layout, band) as i64);
            let less: Vec<(String, i64)> = requests.iter().map(one_less).collect();
            let some = less.iter().all(|(_, tokens)| *tokens > 0);
            some.then_some(Call::Alloc { requests: less, stamp: *stamp }).into_iter().collect()
        }
        Call::Alloc { requests, stamp } => {
            let mut calls = Vec::new();
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
            calls
        }
        Call::Free { band, tokens } => fewer_pages(tokens, page_tokens(layout, band))
            .map(|tokens| Call::Free { band: band.clone(), tokens })
            .collect(),
        Call::Unbind { band, tokens } => fewer_pages(tokens, page_tokens(layout, band))
            .map(|tokens| Call::Unbind { band: band.clone(), tokens })
            .collect(),
        Call::Translate { band, tokens } => fewer_pages(tokens, page_tokens(layout, band))
            .map(|tokens| Call::Translate { band: band.clone(), tokens })
            .collect(),
        Call::Forward { event, tokens } => fewer_pages(tokens, layout.bands[0].page_tokens as usize)
            .map(|tokens| Call::Forward { event: *event, tokens })
            .collect(),
        Call::Release { event: Some(event), key: Some(_) } => vec![Call::Release { event: Some(*event), key: None }],
        _ => Vec::new(),
    }
}

fn page_tokens(layout: &Layout, band: &str) -> usize {
    layout.bands.iter().find(|known| known.name == band).map_or(1, |band| band.page_tokens as usize)
}

/// The tokens without those of one page, for each page but the last one that is left.
fn fewer_pages(tokens: &[i64], page_tokens: usize) -> impl Iterator<Item = Vec<i64>> {
    let pages: Vec<&[i64]> = tokens.chunks(page_tokens).collect();
    let count = if pages.len() > 1 { pages.len() } else { 0 };
    (0..count).map(move |without| {
        let rest = pages.iter().enumerate().filter(|(at, _)| *at != without);
        rest.flat_map(|(_, page)| page.iter().copied()).collect()
    })
}
