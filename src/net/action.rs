//! Permutations of colours: of those blocks that `kanon_pnml::symmetry` has found, which says why they are
//! automorphisms.

use crate::symmetry::note::{Fixed, Permuted};
use crate::symmetry::{Action, Group, Perm, Sketch, Sketcher};
use crate::system::Label;
use crate::value::hash::pair as mix;
use kanon_pnml::net::ClassId;
use kanon_pnml::symmetry::{Blocks, image};
use kanon_pnml::unfold::Unfolded;
use std::sync::Arc;

/// The permutations of a net's blocks.
pub struct Colours {
    net: Arc<Unfolded>,
    group: Group,
    blocks: Blocks,
    /// By class and colour: its point, if it is in a block.
    points: Vec<Vec<Option<u32>>>,
    /// By point: the colour.
    colours: Vec<u32>,
}

impl Colours {
    /// The permutations of these blocks.
    pub fn of(net: &Arc<Unfolded>, blocks: Blocks) -> Colours {
        let sizes: Vec<u32> = blocks.blocks.iter().map(|b| b.colours.len() as u32).collect();
        let mut points: Vec<Vec<Option<u32>>> =
            net.net.classes.iter().map(|c| vec![None; c.colours.len()]).collect();
        let mut colours = vec![];
        for block in &blocks.blocks {
            for colour in &block.colours {
                points[block.class][*colour as usize] = Some(colours.len() as u32);
                colours.push(*colour);
            }
        }
        Colours { net: net.clone(), group: Group::of_sizes(&sizes), blocks, points, colours }
    }

    fn point(&self, class: ClassId, colour: u32) -> Option<u32> {
        self.points[class][colour as usize]
    }

    fn moved(&self, p: &Perm, class: ClassId, colour: u32) -> u32 {
        self.point(class, colour).map_or(colour, |point| self.colours[p.0[point as usize] as usize])
    }

    /// What is permuted, for people.
    pub fn permuted(&self) -> Vec<Permuted> {
        let block = |b: &kanon_pnml::symmetry::Block| {
            let class = &self.net.net.classes[b.class];
            let is_whole = b.colours.len() == class.colours.len();
            Permuted {
                set: class.name.clone(),
                size: b.colours.len() as u32,
                of: class.colours.len() as u32,
                elements: (!is_whole)
                    .then(|| b.colours.iter().map(|i| class.colours[*i as usize].clone()).collect()),
            }
        };
        self.blocks.blocks.iter().map(block).collect()
    }

    /// What is not, and why.
    pub fn fixed(&self) -> Vec<Fixed> {
        let fixed = |(class, reason): &(ClassId, String)| Fixed {
            set: self.net.net.classes[*class].name.clone(),
            reason: reason.clone(),
            in_part: self.blocks.blocks.iter().any(|b| b.class == *class),
        };
        self.blocks.fixed.iter().map(fixed).collect()
    }

    fn draw(&self, row: &[u64], sketch: &mut Sketch) {
        sketch.start(&self.group);
        for (cell, n) in row.iter().enumerate().filter(|(_, n)| **n > 0) {
            let (place, colours) = self.net.cell(cell);
            let domain = &self.net.net.places[place].domain;
            // What is said of the points: the place, the number of tokens, and the colours that no permutation moves.
            let mut fact = mix(place as u64, *n);
            let mut points = vec![];
            for (i, (class, colour)) in domain.iter().zip(colours).enumerate() {
                match self.point(*class, colour) {
                    Some(point) => points.push((i as u64, point)),
                    None => fact = mix(fact, mix(i as u64, u64::from(colour))),
                }
            }
            match points[..] {
                [] => {}
                [(_, point)] => sketch.tint(point, fact),
                [(_, a), (_, b)] => sketch.join(a, b, fact),
                _ => {
                    let whole = sketch.vertex(fact);
                    points.iter().for_each(|(i, point)| sketch.join(whole, *point, *i));
                }
            }
        }
    }
}

impl Action for Colours {
    fn group(&self) -> &Group {
        &self.group
    }

    fn row(&self, row: &[u64], p: &Perm, out: &mut Vec<u64>) -> bool {
        out.clear();
        out.resize(row.len(), 0);
        for (cell, n) in row.iter().enumerate().filter(|(_, n)| **n > 0) {
            out[image(&self.net, cell, |class, colour| self.moved(p, class, colour))] = *n;
        }
        true
    }

    fn label(&self, label: &Label, p: &Perm) -> Label {
        let mode = label.get(1).and_then(|m| self.net.modes.get(*m as usize));
        let image = mode.and_then(|m| {
            let variables = &self.net.variables[m.transition as usize];
            let classes = variables.iter().map(|v| self.net.net.variables[*v].class);
            let binding = classes.zip(&m.binding).map(|(class, i)| self.moved(p, class, *i)).collect();
            self.net.number.get(&(m.transition, binding))
        });
        // The group consists of automorphisms, so there is an image; a label without one would not be replayed.
        match image {
            Some(mode) => Label::from_slice(&[label[0], (*mode).into()]),
            None => label.clone(),
        }
    }

    fn sketcher(self: Arc<Self>) -> Box<dyn Sketcher> {
        Box::new(move |row: &[u64], sketch: &mut Sketch| self.draw(row, sketch))
    }
}
