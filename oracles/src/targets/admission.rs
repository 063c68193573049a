//! Admission is exact: admitted ⇔ allocatable, now or after moving what may move; for one band and jointly, with pins
//! and gates. A state is reached by calls, then questions are asked in it.

use crate::call::{FLAGS, Kind, call, layout, requests, wanted};
use crate::model::Model;
use crate::pair::Pair;
use arbitrary::Unstructured;
use leasecheck_core::{Admission, BandId, Ids, LogicalPage, Request};

/// The most calls before the questions.
const CALLS: usize = 6;
/// The most questions, beside those about the capacity of each band.
const QUESTIONS: usize = 3;

/// Reaches the state and asks the questions that the bytes stand for.
pub fn run(data: &[u8]) {
    // The bytes ran out: there is nothing more to do.
    let _ = questions(&mut Unstructured::new(data));
}

fn questions(bytes: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let kind = if bytes.arbitrary::<u8>()? % 2 == 0 { Kind::Arena } else { Kind::Pool };
    let masks = vec![1, u64::from(bytes.arbitrary::<u8>()?) % (1 << FLAGS)];
    let pins: u32 = bytes.arbitrary::<u16>()?.into();
    let calls = bytes.arbitrary::<u8>()? as usize % CALLS;
    let Some(mut pair) = Pair::new(&layout(bytes, kind)?, masks) else { return Ok(()) };
    for _ in 0..calls {
        let next = call(bytes, &pair.model, kind)?;
        pair.make(next);
    }
    let open = pair.open();
    // A quarter of the pages are pinned, or none.
    let movable = |_: BandId, id: LogicalPage| open && (pins & pins >> 8) >> (id.0 % 8) & 1 == 0;
    let packed = pair.model.plan(None, &movable).after;
    for band in pair.model.bands() {
        let most = if pair.model.is_chain() {
            pair.model.most(band, &movable)
        } else {
            pair.model.available(band).max(packed.available(band))
        };
        assert_eq!(pair.arena.available(BandId(band), movable), most, "capacity of band {band}");
        if pair.arena.config().bands[usize::from(band)].ids == Ids::Own {
            ask(&pair, &packed, &movable, &[Request { band: BandId(band), pages: most }]);
            ask(&pair, &packed, &movable, &[Request { band: BandId(band), pages: most + 1 }]);
        }
    }
    for _ in 0..QUESTIONS {
        let Ok(first) = wanted(bytes, &pair.model) else { break };
        let first = requests(&first);
        ask(&pair, &packed, &movable, &first);
        let Ok(then) = wanted(bytes, &pair.model) else { break };
        ask_both(&pair, &movable, &first, &requests(&then));
    }
    Ok(())
}

fn ask(pair: &Pair, packed: &Model, movable: &dyn Fn(BandId, LogicalPage) -> bool, asked: &[Request]) {
    let (now, later) = if pair.model.is_chain() {
        (pair.model.could_serve(asked, &|_, _| false), pair.model.could_serve(asked, movable))
    } else {
        (pair.model.fits(asked), packed.fits(asked))
    };
    match pair.arena.admission(asked, movable) {
        Admission::FitsNow => assert!(now, "fits now: {asked:?}"),
        Admission::FitsPacked => assert!(!now && later, "fits once packed: {asked:?}"),
        Admission::Refused(why) => assert!(!now && !later, "refused, {why}: {asked:?}"),
    }
}

/// `fits_then` promises that both can be served, one after the other, moving pages before either. The promise is about
/// bands that own their ids, and pages of the first request may move.
fn ask_both(pair: &Pair, movable: &dyn Fn(BandId, LogicalPage) -> bool, first: &[Request], then: &[Request]) {
    if pair.arena.config().bands.iter().any(|band| band.ids != Ids::Own) {
        return;
    }
    let before: Vec<(BandId, LogicalPage)> = pair
        .model
        .bands()
        .flat_map(|band| pair.model.live(band).map(move |(id, _)| (BandId(band), LogicalPage(id))))
        .filter(|(band, id)| !movable(*band, *id))
        .collect();
    let still = |band: BandId, id: LogicalPage| !before.contains(&(band, id));
    let promised = pair.arena.fits_then(first, then, still);
    if pair.model.is_chain() {
        let both: Vec<Request> = first.iter().chain(then).copied().collect();
        assert_eq!(promised, pair.model.could_serve(&both, &still), "{first:?}, then {then:?}");
        return;
    }
    let mut model = pair.model.clone();
    let served = [first, then].into_iter().all(|asked| {
        if model.allocate(asked).is_ok() {
            return true;
        }
        model = model.plan(None, &still).after;
        model.allocate(asked).is_ok()
    });
    assert_eq!(promised, served, "{first:?}, then {then:?}");
}
