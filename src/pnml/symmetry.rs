//! The colours that nothing tells apart.
//!
//! Exchanging two colours of a class, everywhere where the class occurs, is an automorphism of a net if it takes the
//! initial marking to itself, every mode to a mode, and every condition that is asked to itself. That is looked up in
//! the unfolded net, exchange by exchange, so it does not matter how the net says what it says: guards, constants,
//! partitions and markings all count for what they do. If (a b) and (b c) are automorphisms so is (a c), so these
//! pairs make *blocks*, and all permutations of each block are automorphisms.
//!
//! Classes whose order is looked at (successors, comparisons) are left alone without asking: exchanges do not keep an
//! order, and rotations, which do, are no products of exchanges.

use crate::condition::Condition;
use crate::net::ClassId;
use crate::unfold::{Tokens, Unfolded};

/// Steps of the search for blocks; a net that needs more is not reduced.
const MAX_STEPS: usize = 200_000_000;

/// Colours of all blocks together.
pub const MAX_POINTS: usize = 1024;

/// Colours of one class that nothing tells apart; at least two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub class: ClassId,
    pub colours: Vec<u32>,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    pub blocks: Vec<Block>,
    /// Classes that are fixed, wholly or in part, and why.
    pub fixed: Vec<(ClassId, String)>,
}

/// The blocks of a net that is asked these conditions.
pub fn blocks(net: &Unfolded, conditions: &[Condition]) -> Blocks {
    let mut found = Blocks::default();
    let size: usize = net.modes.iter().map(|m| m.takes.len() + m.gives.len() + 1).sum();
    let mut steps = 0;
    let mut points = 0;
    for (class, c) in net.net.classes.iter().enumerate() {
        if c.colours.len() < 2 {
            continue;
        }
        if let Some(what) = c.ordered_by {
            found.fixed.push((class, format!("its colours are ordered: {what}")));
            continue;
        }
        let mut blocks: Vec<Vec<u32>> = vec![];
        let mut given_up = None;
        for colour in 0..c.colours.len() as u32 {
            steps += size * blocks.len().max(1);
            if steps > MAX_STEPS || points + c.colours.len() > MAX_POINTS {
                let why = "finding out what tells its colours apart would take too long";
                let large = format!("more than {MAX_POINTS} colours would be permuted");
                given_up = Some(if steps > MAX_STEPS { why.to_string() } else { large });
                break;
            }
            let joined = blocks.iter_mut().find(|b| is_automorphism(net, conditions, class, b[0], colour));
            match joined {
                Some(block) => block.push(colour),
                None => blocks.push(vec![colour]),
            }
        }
        if let Some(why) = given_up {
            found.fixed.push((class, why));
            continue;
        }
        let alone: Vec<&str> =
            blocks.iter().filter(|b| b.len() < 2).map(|b| &*c.colours[b[0] as usize]).collect();
        if !alone.is_empty() {
            let most: Vec<&str> = alone.iter().copied().take(8).collect();
            let more = if alone.len() > most.len() { ", …" } else { "" };
            let is = if alone.len() == 1 { "is" } else { "are" };
            let why = format!(
                "{}{more} {is} told apart from the others by the net, or by what is asked",
                most.join(", ")
            );
            found.fixed.push((class, why));
        } else if blocks.len() > 1 {
            found.fixed.push((class, format!("the net has {} static subclasses of it", blocks.len())));
        }
        let large = blocks.into_iter().filter(|b| b.len() > 1);
        for colours in large {
            points += colours.len();
            found.blocks.push(Block { class, colours });
        }
    }
    found
}

/// The cell of the same place with colours of a class renamed.
pub fn image(net: &Unfolded, cell: usize, to: impl Fn(ClassId, u32) -> u32) -> usize {
    let (place, colours) = net.cell(cell);
    let domain = &net.net.places[place].domain;
    net.at(place, domain.iter().zip(colours).map(|(class, colour)| to(*class, colour)))
}

/// Whether exchanging two colours changes nothing.
fn is_automorphism(net: &Unfolded, conditions: &[Condition], class: ClassId, a: u32, b: u32) -> bool {
    let to = |k: ClassId, colour: u32| match colour {
        _ if k != class => colour,
        _ if colour == a => b,
        _ if colour == b => a,
        _ => colour,
    };
    let cell = |cell: u32| image(net, cell as usize, to) as u32;
    let marked = net.marking.iter().enumerate().filter(|(_, n)| **n > 0);
    let keeps_marking = marked.into_iter().all(|(i, n)| net.marking[image(net, i, to)] == *n);
    let moved = |tokens: &Tokens| {
        let mut all: Tokens = tokens.iter().map(|(c, n)| (cell(*c), *n)).collect();
        all.sort_unstable();
        all
    };
    keeps_marking
        && conditions.iter().all(|c| c.moved(&cell) == *c)
        && net.modes.iter().all(|m| {
            let variables = net.variables[m.transition as usize].iter();
            let binding = variables
                .zip(&m.binding)
                .map(|(v, colour)| to(net.net.variables[*v].class, *colour))
                .collect();
            net.number.get(&(m.transition, binding)).is_some_and(|n| {
                let other = &net.modes[*n as usize];
                other.takes == moved(&m.takes) && other.gives == moved(&m.gives)
            })
        })
}
