//! A gate file of any size, the same on every machine: what the benchmark times and a test runs tiny.

use std::fmt::Write as _;

/// How large, and how tangled.
pub struct Shape {
    /// Flags.
    pub flags: usize,
    /// Options with five values.
    pub fives: usize,
    /// Gates.
    pub gates: usize,
    /// The options of one gate lie within this many of each other; as many as there are options means anywhere.
    pub reach: usize,
    /// Leaves the last gates out: an older version of the same file.
    pub without_last: usize,
}

/// A small generator (splitmix64): the file must not change with a dependency.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % (bound as u64).max(1)) as usize
    }
}

/// The text of the file.
pub fn big_file(shape: &Shape, seed: u64) -> String {
    let mut draw = Draw(seed);
    let options = shape.flags + shape.fives;
    // Every fifth option or so has five values.
    let is_five = |option: usize| option * shape.fives / options != (option + 1) * shape.fives / options;
    let mut out = String::from("[options]\n");
    for option in 0..options {
        let _ = if is_five(option) {
            writeln!(out, "o{option} = {{ values = [\"auto\", \"a\", \"b\", \"c\", \"d\"], default = \"auto\" }}")
        } else {
            writeln!(out, "o{option} = false")
        };
    }
    let term = |draw: &mut Draw, start: usize| {
        let option = (start + draw.below(shape.reach)) % options;
        let negated = draw.below(2) == 1;
        match (is_five(option), negated) {
            (true, true) => format!("o{option} != '{}'", ["a", "b", "c", "d"][draw.below(4)]),
            (true, false) => format!("o{option} == '{}'", ["a", "b", "c", "d"][draw.below(4)]),
            (false, true) => format!("!o{option}"),
            (false, false) => format!("o{option}"),
        }
    };
    for option in (0..options).filter(|option| is_five(*option)) {
        let when = term(&mut draw, option);
        let _ = writeln!(
            out,
            "[[resolver]]\nname = 'r{option}'\nwhen = \"o{option} == 'auto' && {when}\"\nset = {{ o{option} = 'a' }}"
        );
    }
    for gate in 0..shape.gates {
        let start = draw.below(options);
        let width = 2 + draw.below(3);
        let terms: Vec<String> = (0..width).map(|_| term(&mut draw, start)).collect();
        let advised = (0..options).filter(|option| !is_five(*option)).nth(draw.below(shape.flags)).unwrap_or(0);
        if gate + shape.without_last < shape.gates {
            let _ = writeln!(out, "[[gate]]\nname = 'g{gate}'\nrejects = \"{}\"", terms.join(" && "));
            // As in real files, few messages recommend something.
            if gate % 10 == 0 {
                let _ = writeln!(out, "recommends = {{ o{advised} = true }}");
            }
        }
    }
    for feature in 0..5 {
        let start = draw.below(options);
        let terms: Vec<String> = (0..6).map(|_| term(&mut draw, start)).collect();
        let _ = writeln!(out, "[[feature]]\nname = 'f{feature}'\nruns = \"{}\"", terms.join(" && "));
        let _ = writeln!(out, "[[unsafe]]\nname = 'u{feature}'\nwhen = \"{}\"", terms[..4].join(" && "));
        let _ = writeln!(out, "[[must]]\nunreachable = 'u{feature}'");
    }
    out
}
