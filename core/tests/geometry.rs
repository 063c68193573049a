//! Which layouts are possible, and what follows from one: pages, first pages, capacities, the gap of an empty arena.
//!
//! Against arithmetic on whole numbers that shares nothing with core's, for any layout, possible or not.

use crate::common::*;
use leasecheck_core::*;
use proptest::prelude::*;

fn any_layout() -> impl Strategy<Value = ArenaConfig> {
    let grow = prop_oneof![Just(Grow::Up), Just(Grow::Down), Just(Grow::Float)];
    let ids = prop_oneof![4 => Just(Ids::Own), 1 => (0_u8..5).prop_map(|owner| Ids::Of(BandId(owner)))];
    let one = (prop_oneof![9 => 1_u64..12, 1 => Just(0)], grow, ids, prop_oneof![9 => Just(4_u32), 1 => Just(0)]);
    let bands = prop_oneof![8 => prop::collection::vec(one.clone(), 0..4), 1 => prop::collection::vec(one, 7..11)];
    (0_u64..40, bands, any::<bool>()).prop_map(|(bytes, bands, sink)| {
        let bands = bands.into_iter().zip("abcdefghijk".chars()).map(|((envelope, grow, ids, page_tokens), name)| {
            BandConfig { page_tokens, ..band(&name.to_string(), envelope, grow, ids) }
        });
        ArenaConfig { sink, ..config(bytes, bands.collect()) }
    })
}

/// What is wrong with the layout, in the order in which a reader would look: each band, then the pages.
fn wrong(layout: &ArenaConfig) -> Option<ConfigError> {
    let bands = &layout.bands;
    if bands.is_empty() {
        return Some(ConfigError::NoBands);
    }
    if bands.len() > 8 {
        return Some(ConfigError::TooManyBands(bands.len()));
    }
    for (at, band) in bands.iter().enumerate() {
        let same = bands.iter().take(at).filter(|other| other.grow == band.grow && band.grow != Grow::Float).count();
        let owner = match band.ids {
            Ids::Own => true,
            Ids::Of(owner) => bands.get(usize::from(owner.0)).is_some_and(|owner| matches!(owner.ids, Ids::Own)),
        };
        if band.envelope * u64::from(band.page_tokens) == 0 {
            return Some(ConfigError::EmptyPage(band.name.clone()));
        } else if same > 0 {
            return Some(ConfigError::EndTaken(band.name.clone()));
        } else if !owner {
            return Some(ConfigError::NotAnOwner(band.name.clone()));
        }
    }
    for (band, config) in bands.iter().enumerate() {
        let (pages, first) = grid(layout, band);
        if pages <= first {
            let (band, envelope) = (config.name.clone(), config.envelope);
            return Some(ConfigError::NoRoom { band, envelope, bytes: layout.bytes });
        }
    }
    None
}

/// Pages that fit, and the first that shares no byte with the largest page, which is the sink.
fn grid(layout: &ArenaConfig, band: usize) -> (u64, u64) {
    let envelope = layout.bands[band].envelope;
    let sink = if layout.sink { layout.bands.iter().map(|band| band.envelope).max().unwrap_or(0) } else { 0 };
    let first = (0..).find(|page| page * envelope >= sink).unwrap_or(0);
    (layout.bytes / envelope, first)
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn possible_layouts_have_the_pages_that_fit(layout in any_layout()) {
        let arena = Arena::new(layout.clone());
        prop_assert_eq!(arena.clone().err(), wrong(&layout));
        let Ok(arena) = arena else { return Ok(()) };
        prop_assert_eq!(arena.config(), &layout);
        prop_assert_eq!(arena.is_chain(), layout.bands.iter().any(|band| band.grow == Grow::Float));
        let (mut low, mut high) = (None, None);
        for (band, config) in arena.bands() {
            let (pages, first) = grid(&layout, band.0.into());
            prop_assert_eq!((u64::from(arena.pages(band)), u64::from(arena.first_page(band).0)), (pages, first));
            prop_assert_eq!(u64::from(arena.capacity(band)), pages - first);
            prop_assert_eq!(arena.band_named(&config.name), Some(band));
            prop_assert!(arena.extent(band).is_empty() && arena.span(band) == 0 && arena.live(band) == 0);
            match config.grow {
                Grow::Up => low = Some(first * config.envelope),
                Grow::Down => high = Some(pages * config.envelope),
                Grow::Float => {}
            }
            let ids = if config.ids == Ids::Own { pages - first } else { 0 };
            prop_assert_eq!(arena.free_ids(band).count() as u64, ids);
        }
        // An end that no band grows from is where the other band's grid begins or ends.
        let only = (0..layout.bands.len()).find(|band| layout.bands[*band].grow != Grow::Float);
        let (first, last) = only.map_or((0, layout.bytes), |band| {
            let ((pages, first), envelope) = (grid(&layout, band), layout.bands[band].envelope);
            (first * envelope, pages * envelope)
        });
        let gap = high.unwrap_or(last).saturating_sub(low.unwrap_or(first));
        prop_assert_eq!(arena.gap(), gap);
        let none = BandId(layout.bands.len() as u8);
        prop_assert_eq!((arena.pages(none), arena.first_page(none), arena.capacity(none)), (0, PhysicalPage(0), 0));
        prop_assert_eq!(arena.band_named("none of them"), None);
        prop_assert_eq!(arena.translate(none, LogicalPage(1)), None);
        prop_assert_eq!(arena.packable(), arena.bands().all(|(band, _)| arena.pages(band) < 255));
    }

    #[test]
    fn a_copy_over_another_arena_is_the_same(
        (one, other) in (layouts(), layouts()),
        (ops, before) in (prop::collection::vec(ops(), 1..12), prop::collection::vec(ops(), 0..4)),
    ) {
        let (mut lab, mut copy) = (Lab::new(one), Lab::new(other));
        ops.iter().for_each(|op| lab.run(op));
        before.iter().for_each(|op| copy.run(op));
        copy.arena.clone_from(&lab.arena);
        prop_assert_eq!(copy.arena.config(), lab.arena.config());
        prop_assert!(copy.arena == lab.arena && copy.arena.gap() == lab.arena.gap());
    }

    #[test]
    fn a_gate_is_closed_while_one_of_its_flags_is_raised(masks in prop::collection::vec(any::<u64>(), 0..4), raised in any::<u64>()) {
        let closed = masks.iter().position(|mask| (0..64).any(|flag| mask >> flag & 1 == 1 && raised >> flag & 1 == 1));
        prop_assert_eq!(Gates::new(masks).closed(raised), closed);
    }

    #[test]
    fn only_bands_of_fewer_than_255_pages_can_be_packed(pages in 250_u64..260) {
        let arena = Arena::new(config(pages, vec![band("a", 1, Grow::Up, Ids::Own)])).unwrap();
        prop_assert_eq!(arena.packable(), pages < 255);
    }
}

#[test]
fn a_band_of_too_many_pages_is_refused() {
    let pages = (1 << 26) + 1;
    let refused = Arena::new(config(pages, vec![band("a", 1, Grow::Up, Ids::Own)])).err();
    assert_eq!(refused, Some(ConfigError::TooManyPages { band: "a".into(), pages }));
    // One page less is none too many: with a second band, that one is at fault. (An arena as large takes too long here.)
    let pages = 1 << 27;
    let bands = vec![band("a", 2, Grow::Up, Ids::Own), band("b", 1, Grow::Down, Ids::Own)];
    let refused = Arena::new(config(pages, bands)).err();
    assert_eq!(refused, Some(ConfigError::TooManyPages { band: "b".into(), pages }));
}
