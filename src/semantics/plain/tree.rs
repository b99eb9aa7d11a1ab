//! B's operators on trees. A tree is a function from paths to values: the path of the root is `[]`, the i-th son of the
//! node at p is at `p <- i`, and sons are numbered from one without gaps.

use super::Value;
use super::fault::{Fault, Res, WdKind};
use super::sequence::{ill_typed, items, sequence};
use crate::lang::external::External;
use num_traits::ToPrimitive;
use std::collections::BTreeMap;

type Path = Vec<u64>;
/// In the order of paths: a node comes before its sons, and a son with all below it before the next son.
type Tree = BTreeMap<Path, Value>;

/// The value of an operator on trees.
pub(super) fn apply(f: External, args: &[Value]) -> Res<Value> {
    use External::*;
    Ok(match (f, args) {
        (TreeTop, [t]) => tree(t)?.remove(&vec![]).ok_or_else(ill_typed)?,
        (TreeConst, [top, Value::Set(sons)]) => {
            let sons: Res<Vec<Tree>> = items(sons)?.iter().map(tree).collect();
            joined(top.clone(), sons?)
        }
        (TreeSons, [t]) => {
            let t = tree(t)?;
            sequence((1..=arity(&t, &[])).map(|i| to_value(below(&t, &[i]))))
        }
        (TreePrefix, [t]) => sequence(tree(t)?.into_values()),
        (TreePostfix, [t]) => sequence(postfix(&tree(t)?)),
        (TreeInfix, [t]) => sequence(infix(&tree(t)?)?),
        (TreeSize, [t]) => Value::int(tree(t)?.len()),
        (TreeMirror, [t]) => {
            let t = tree(t)?;
            let turned = t.iter().map(|(p, v)| {
                let at = |k: usize| arity(&t, &p[..k]) + 1 - p[k];
                ((0..p.len()).map(at).collect(), v.clone())
            });
            to_value(turned.collect())
        }
        (TreeRank, [t, p]) => Value::int(*node(&tree(t)?, p)?.last().ok_or_else(outside)?),
        (TreeFather, [t, p]) => {
            let mut p = node(&tree(t)?, p)?;
            p.pop().ok_or_else(outside)?;
            from_path(&p)
        }
        (TreeSon, [t, p, Value::Int(i)]) => {
            let t = tree(t)?;
            let mut p = node(&t, p)?;
            p.push(i.to_u64().ok_or_else(outside)?);
            if !t.contains_key(&p) {
                return Err(outside());
            }
            from_path(&p)
        }
        (TreeSub, [t, p]) => {
            let t = tree(t)?;
            to_value(below(&t, &node(&t, p)?))
        }
        (TreeArity, [t, p]) => {
            let t = tree(t)?;
            Value::int(arity(&t, &node(&t, p)?))
        }
        (TreeLeaf, [v]) => joined(v.clone(), vec![]),
        (TreeBin, [l, v, r]) => joined(v.clone(), vec![tree(l)?, tree(r)?]),
        (TreeLeft | TreeRight, [t]) => {
            let t = tree(t)?;
            if arity(&t, &[]) != 2 {
                return Err(Fault::wd(WdKind::NotATree));
            }
            to_value(below(&t, &[if f == TreeLeft { 1 } else { 2 }]))
        }
        _ => return Err(ill_typed()),
    })
}

/// A path that is not one of the tree.
fn outside() -> Box<Fault> {
    Fault::wd(WdKind::OutsideDomain)
}

fn tree(v: &Value) -> Res<Tree> {
    let no_tree = || Fault::wd(WdKind::NotATree);
    let Value::Set(pairs) = v else { return Err(ill_typed()) };
    let mut t = Tree::new();
    for pair in pairs {
        let Value::Pair(p) = pair else { return Err(ill_typed()) };
        let path = path(&p.0).ok_or_else(no_tree)?;
        if t.insert(path, p.1.clone()).is_some() {
            return Err(no_tree());
        }
    }
    let is_joined = |p: &Path| match p.split_last() {
        None => true,
        Some((0, _)) => false,
        Some((1, front)) => t.contains_key(front),
        Some((i, front)) => {
            let mut elder = front.to_vec();
            elder.push(i - 1);
            t.contains_key(&elder)
        }
    };
    if t.contains_key(&[][..]) && t.keys().all(is_joined) { Ok(t) } else { Err(no_tree()) }
}

fn path(v: &Value) -> Option<Path> {
    let Value::Set(pairs) = v else { return None };
    let number = |v: Value| match v {
        Value::Int(i) => i.to_u64(),
        _ => None,
    };
    items(pairs).ok()?.into_iter().map(number).collect()
}

fn from_path(p: &[u64]) -> Value {
    sequence(p.iter().map(|i| Value::int(*i)))
}

/// A path, if it is one of the tree.
fn node(t: &Tree, p: &Value) -> Res<Path> {
    path(p).filter(|p| t.contains_key(p)).ok_or_else(outside)
}

fn to_value(t: Tree) -> Value {
    Value::set(t.into_iter().map(|(p, v)| Value::pair(from_path(&p), v)))
}

fn arity(t: &Tree, p: &[u64]) -> u64 {
    t.keys().filter(|q| q.len() == p.len() + 1 && q.starts_with(p)).count() as u64
}

/// What is at a path and below it.
fn below(t: &Tree, p: &[u64]) -> Tree {
    let inside = t.iter().filter(|(q, _)| q.starts_with(p));
    inside.map(|(q, v)| (q[p.len()..].to_vec(), v.clone())).collect()
}

fn joined(top: Value, sons: Vec<Tree>) -> Value {
    let mut t = Tree::from([(vec![], top)]);
    for (son, i) in sons.into_iter().zip(1..) {
        t.extend(son.into_iter().map(|(p, v)| ([&[i], &p[..]].concat(), v)));
    }
    to_value(t)
}

/// Sons before their father, in order.
fn postfix(t: &Tree) -> Vec<Value> {
    let mut paths: Vec<(Path, &Value)> = t.iter().map(|(p, v)| (p.clone(), v)).collect();
    for (p, _) in &mut paths {
        p.push(u64::MAX);
    }
    paths.sort();
    paths.into_iter().map(|(_, v)| v.clone()).collect()
}

/// The left part, the node, the right part.
fn infix(t: &Tree) -> Res<Vec<Value>> {
    if t.keys().any(|p| !matches!(arity(t, p), 0 | 2)) {
        return Err(Fault::wd(WdKind::NotATree));
    }
    // The left son comes before the end of the path, the right one after it.
    let place = |p: &Path| p.iter().map(|i| if *i == 1 { 0 } else { 2 }).chain([1]).collect::<Vec<u8>>();
    let mut all: Vec<(Vec<u8>, &Value)> = t.iter().map(|(p, v)| (place(p), v)).collect();
    all.sort();
    Ok(all.into_iter().map(|(_, v)| v.clone()).collect())
}
