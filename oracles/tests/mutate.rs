//! What changes inputs of the target `world` changes the program or the schedule, never where one ends.

use leasecheck_oracles::targets::world::mutate;
use leasecheck_sim::hunt::bytes::split;

#[test]
fn a_change_is_to_the_program_or_to_the_schedule() {
    // One byte more, or one byte less.
    let grow = |data: &mut [u8], size: usize, most: usize| {
        assert!(size < most, "asked to grow {size} bytes to {most}");
        data[size] = 7;
        size + 1
    };
    let shrink = |data: &mut [u8], size: usize, _: usize| {
        data[0] ^= 1;
        size.saturating_sub(1)
    };
    let input = [3, 1, 2, 3, 10, 20];
    let (program, schedule) = split(&input);
    let mut programs = 0;
    for seed in 0..100 {
        for (change, longer) in [(&grow as &dyn Fn(&mut [u8], usize, usize) -> usize, true), (&shrink, false)] {
            let (mut data, most) = ([0; 16], 16);
            data[..input.len()].copy_from_slice(&input);
            let size = mutate(&mut data, input.len(), most, seed, change);
            assert_eq!(size, if longer { input.len() + 1 } else { input.len() - 1 });
            let (new_program, new_schedule) = split(&data[..size]);
            assert!(new_program == program || new_schedule == schedule, "{data:?}");
            programs += usize::from(new_program != program);
        }
    }
    assert!(programs > 0 && programs < 50, "{programs} of 200 changes were to the program");
    // Too long, or no program: as any bytes.
    let mut data = [9; 8];
    assert_eq!(mutate(&mut data, 8, 4, 1, |_, size, most| size.min(most)), 4);
    assert_eq!(mutate(&mut data, 0, 8, 1, |_, size, most| if size == 0 { most } else { 0 }), 8);
}
