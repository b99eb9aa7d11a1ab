//! Whether a function that cannot be listed lies in a function space.

use super::{equal, is_whole, member, subset};
use crate::value::fault::{Fault, Res};
use crate::value::rep::{R, Rep, Shape};
use crate::value::val::{Closure, FunKind, Val};

/// `f : A --> B` is `!x.(x : dom(f) => x : A & f(x) : B)`, and `A <: dom(f)` for a total one. What an argument near
/// zero refutes is false. It is true if the form of the function shows it: the domain by the sets of the arguments, the
/// values by where they lie, and that there are values everywhere. Everything else is not decided.
pub(super) fn infinite_in_functions(
    kind: FunKind,
    f: &dyn Closure,
    from: &Val,
    to: &Val,
    rep: &R,
) -> Res<bool> {
    let (ra, rb) = rep.as_rel();
    let (sa, sb) = (Rep::set(ra.clone()), Rep::set(rb.clone()));
    let undecided = || Fault::limit("whether an infinite function lies in a function space is not decided");
    for x in samples(ra) {
        let (inside, wanted) = (f.in_domain(&x)?, member(&x, from, &sa)?);
        if (inside && !wanted) || (kind.total && wanted && !inside) {
            return Ok(false);
        }
        if inside {
            for y in f.images(&x)? {
                if !member(&y, to, &sb)? {
                    return Ok(false);
                }
            }
        }
    }
    if kind.injective || kind.surjective || (kind.functional && !f.is_function()) {
        return Err(undecided());
    }
    let fits = match f.domain() {
        Some(domain) if kind.total => equal(&domain, from, &sa)?,
        Some(domain) => subset(&domain, from, &sa)?,
        None if kind.total => return Err(undecided()),
        // Less than this is the domain.
        None => match f.domain_within() {
            Some(domain) if subset(&domain, from, &sa)? => true,
            _ => return Err(undecided()),
        },
    };
    if !fits {
        return Ok(false);
    }
    if f.values_lie_in(to, &sb, is_whole(to, &sb)) { Ok(true) } else { Err(undecided()) }
}

/// Arguments near zero, if they are integers or pairs of them.
fn samples(rep: &R) -> Vec<Val> {
    match &rep.shape {
        Shape::Int => (-3..=12).map(Val::I).collect(),
        Shape::Pair(a, b) => {
            let few = |r: &R| -> Vec<Val> {
                let all = samples(r);
                if all.len() > 16 { vec![] } else { all.into_iter().take(8).collect() }
            };
            let (xs, ys) = (few(a), few(b));
            xs.iter().flat_map(|x| ys.iter().map(|y| Val::pair(x.clone(), y.clone(), rep))).collect()
        }
        _ => vec![],
    }
}
