//! Places for the vertices of a small graph: forces, then no two of them on one another.
//!
//! Only additions, products, quotients and square roots: the same picture on every machine.

/// A place, or a size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vec2 {
    pub x: f64,
    pub y: f64,
}

impl Vec2 {
    #[must_use]
    pub fn new(x: f64, y: f64) -> Vec2 {
        Vec2 { x, y }
    }

    #[must_use]
    pub fn plus(self, o: Vec2) -> Vec2 {
        Vec2::new(self.x + o.x, self.y + o.y)
    }

    #[must_use]
    pub fn minus(self, o: Vec2) -> Vec2 {
        Vec2::new(self.x - o.x, self.y - o.y)
    }

    #[must_use]
    pub fn times(self, k: f64) -> Vec2 {
        Vec2::new(self.x * k, self.y * k)
    }

    #[must_use]
    pub fn length(self) -> f64 {
        (self.x * self.x + self.y * self.y).sqrt()
    }
}

/// How long an edge would like to be.
const LENGTH: f64 = 120.0;
/// Vertices farther apart leave each other alone, so that parts without an edge between them stay together.
const REACH: f64 = 2.2 * LENGTH;
const ROUNDS: usize = 400;
/// Pairs of vertices that are looked at altogether, at most; large graphs get fewer rounds.
const EFFORT: usize = 200_000_000;

/// Where vertices with these sizes stand. All coordinates are positive, the smallest corner is the origin.
#[must_use]
pub fn places(sizes: &[Vec2], edges: &[(usize, usize)]) -> Vec<Vec2> {
    let mut at = start(sizes.len());
    let rounds = ROUNDS.min(EFFORT / (sizes.len() * sizes.len()).max(1)).max(20);
    for round in 0..rounds {
        let heat = LENGTH * (1.0 - round as f64 / rounds as f64);
        let force = forces(&at, edges);
        for (p, f) in at.iter_mut().zip(force) {
            let length = f.length().max(1e-9);
            *p = p.plus(f.times(length.min(heat) / length));
        }
    }
    spread(&mut at, sizes);
    separate(&mut at, sizes);
    let corner = at.iter().zip(sizes).fold(Vec2::new(f64::INFINITY, f64::INFINITY), |c, (p, s)| {
        Vec2::new(c.x.min(p.x - s.x / 2.0), c.y.min(p.y - s.y / 2.0))
    });
    at.iter().map(|p| p.minus(corner)).collect()
}

/// Numbers that look random, always the same.
fn start(n: usize) -> Vec<Vec2> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let side = LENGTH * (n as f64).sqrt();
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24) * side
    };
    (0..n).map(|_| Vec2::new(next(), next())).collect()
}

/// Fruchterman and Reingold's, and a pull to the middle so that what has no edge does not fly away.
fn forces(at: &[Vec2], edges: &[(usize, usize)]) -> Vec<Vec2> {
    let mut force = vec![Vec2::default(); at.len()];
    let middle = at.iter().fold(Vec2::default(), |m, p| m.plus(p.times(1.0 / at.len() as f64)));
    for i in 0..at.len() {
        for j in 0..i {
            let d = at[i].minus(at[j]);
            let length = d.length().max(1.0);
            if length > REACH {
                continue;
            }
            let push = d.times(LENGTH * LENGTH / (length * length));
            force[i] = force[i].plus(push);
            force[j] = force[j].minus(push);
        }
        force[i] = force[i].plus(middle.minus(at[i]).times(0.3));
    }
    for &(a, b) in edges {
        let d = at[b].minus(at[a]);
        let pull = d.times(d.length() / LENGTH);
        force[a] = force[a].plus(pull);
        force[b] = force[b].minus(pull);
    }
    force
}

/// Makes room for large vertices, and for names between them: the forces know points only.
fn spread(at: &mut [Vec2], sizes: &[Vec2]) {
    let n = sizes.len().max(1) as f64;
    let mean = sizes.iter().fold(Vec2::default(), |m, s| m.plus(s.times(1.0 / n)));
    let (x, y) = ((mean.x * 1.1 / LENGTH).max(1.0), (mean.y * 1.9 / LENGTH).max(1.0));
    for p in at.iter_mut() {
        *p = Vec2::new(p.x * x, p.y * y);
    }
}

/// Moves vertices that overlap apart, in the direction in which less is needed.
fn separate(at: &mut [Vec2], sizes: &[Vec2]) {
    const GAP: f64 = 16.0;
    for _ in 0..200 {
        let mut moved = false;
        for i in 0..at.len() {
            for j in 0..i {
                let d = at[i].minus(at[j]);
                let (w, h) = ((sizes[i].x + sizes[j].x) / 2.0 + GAP, (sizes[i].y + sizes[j].y) / 2.0 + GAP);
                let (over_x, over_y) = (w - d.x.abs(), h - d.y.abs());
                if over_x <= 0.01 || over_y <= 0.01 {
                    continue;
                }
                moved = true;
                let sign = |x: f64| if x < 0.0 { -0.5 } else { 0.5 };
                let step = if over_x < over_y {
                    Vec2::new(sign(d.x) * over_x, 0.0)
                } else {
                    Vec2::new(0.0, sign(d.y) * over_y)
                };
                at[i] = at[i].plus(step);
                at[j] = at[j].minus(step);
            }
        }
        if !moved {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_vertices_overlap_and_it_is_always_the_same() {
        for n in [0, 1, 2, 7, 40] {
            let sizes: Vec<Vec2> = (0..n).map(|i| Vec2::new(40.0 + 10.0 * (i % 5) as f64, 26.0)).collect();
            let edges: Vec<(usize, usize)> = (1..n).map(|i| (0, i)).collect();
            let at = places(&sizes, &edges);
            assert_eq!(at, places(&sizes, &edges));
            for i in 0..n {
                assert!(at[i].x.is_finite() && at[i].x >= sizes[i].x / 2.0 - 0.01);
                for j in 0..i {
                    let d = at[i].minus(at[j]);
                    let apart = d.x.abs() >= (sizes[i].x + sizes[j].x) / 2.0
                        || d.y.abs() >= (sizes[i].y + sizes[j].y) / 2.0;
                    assert!(apart, "{n}: {i} and {j} overlap");
                }
            }
        }
    }

    #[test]
    fn an_edge_brings_vertices_together() {
        let sizes = [Vec2::new(20.0, 20.0); 6];
        let at = places(&sizes, &[(0, 1)]);
        let far = |i: usize, j: usize| at[i].minus(at[j]).length();
        assert!((2..6).all(|i| far(0, 1) < far(0, i)), "{at:?}");
    }
}
