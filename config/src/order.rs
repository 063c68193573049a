//! An order of the options that keeps together those that one gate reads: small diagrams for real files.
//!
//! Two ways to begin (the order of the file, and always taking the option that leaves the fewest groups half placed),
//! each improved by FORCE (Aloul, Markov, Sakallah 2003): every option moves to the mean position of the groups it is
//! in. The order with the smallest total span wins. Integers only, so that the order is the same everywhere.

/// The rounds of FORCE after which the order is good enough.
const ROUNDS: usize = 100;

/// Arranges `options` options so that the options of each edge are close to each other.
pub(crate) fn arrange(options: usize, edges: &[Vec<usize>]) -> Vec<usize> {
    let mut best = (usize::MAX, Vec::new());
    for mut order in [(0..options).collect(), greedy(options, edges)] {
        for _ in 0..ROUNDS {
            let now = span(&order, edges);
            if now < best.0 {
                best = (now, order.clone());
            }
            pull(&mut order, edges);
        }
    }
    best.1
}

/// Takes, again and again, the option after which the fewest edges are begun and not finished.
fn greedy(options: usize, edges: &[Vec<usize>]) -> Vec<usize> {
    let mut memberships: Vec<Vec<usize>> = vec![Vec::new(); options];
    for (index, edge) in edges.iter().enumerate() {
        for option in edge {
            memberships[*option].push(index);
        }
    }
    let mut placed = vec![0usize; edges.len()];
    let mut left: Vec<usize> = (0..options).collect();
    let mut order = Vec::with_capacity(options);
    while !left.is_empty() {
        // Edges that the option would begin count against it, those that it would finish for it.
        let cost = |option: &usize| {
            let begun =
                memberships[*option].iter().filter(|edge| placed[**edge] == 0 && edges[**edge].len() > 1).count();
            let finished = memberships[*option]
                .iter()
                .filter(|edge| placed[**edge] > 0 && placed[**edge] + 1 == edges[**edge].len())
                .count();
            begun + options - finished.min(options)
        };
        let at = left.iter().enumerate().min_by_key(|(_, option)| cost(option)).map_or(0, |(at, _)| at);
        let option = left.remove(at);
        for edge in &memberships[option] {
            placed[*edge] += 1;
        }
        order.push(option);
    }
    order
}

/// One round of FORCE.
fn pull(order: &mut [usize], edges: &[Vec<usize>]) {
    let position = positions(order);
    // Sums are scaled, so that integer division keeps the means apart.
    let mut pull = vec![(0u64, 0u64); order.len()];
    for edge in edges {
        let sum: u64 = edge.iter().map(|option| position[*option] as u64).sum();
        let centre = (sum << 20) / (edge.len() as u64).max(1);
        for option in edge {
            pull[*option].0 += centre;
            pull[*option].1 += 1;
        }
    }
    order.sort_by_key(|option| match pull[*option] {
        (_, 0) => (position[*option] as u64) << 20,
        (sum, count) => sum / count,
    });
}

fn positions(order: &[usize]) -> Vec<usize> {
    let mut position = vec![0; order.len()];
    for (place, option) in order.iter().enumerate() {
        position[*option] = place;
    }
    position
}

fn span(order: &[usize], edges: &[Vec<usize>]) -> usize {
    let position = positions(order);
    edges
        .iter()
        .map(|edge| {
            let places = edge.iter().map(|option| position[*option]);
            places.clone().max().unwrap_or(0) - places.min().unwrap_or(0)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffled_chain_is_put_in_line() {
        let chain: Vec<Vec<usize>> = [0, 5, 2, 7, 1, 6, 3, 4].windows(2).map(<[usize]>::to_vec).collect();
        assert_eq!(span(&(0..8).collect::<Vec<_>>(), &chain), 28);
        let ordered = arrange(8, &chain);
        assert!(span(&ordered, &chain) <= 7, "{ordered:?}");
        assert_eq!(ordered.len(), 8);
    }
}
