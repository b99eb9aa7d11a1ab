//! A key is inserted once, whatever else is, also while the index grows.

use super::super::{Layout, Looked, Store};
use crate::harness::{Choose, claim};
use crate::system::Width;
use kanon_refinement::kernel::Insertion;

/// Four keys of eight, into an index of four places, which grows at the third one.
fn inserted(c: &mut impl Choose, widths: &[Width], key: impl Fn(u64) -> Vec<u64>) -> bool {
    let mut store = Store::with_places(Layout::new(widths), 4);
    let mut ids: [Option<u32>; 8] = [None; 8];
    let mut count = 0;
    for _ in 0..4 {
        let n = c.below(8);
        match (store.insert(&key(n), 0, Looked::NOWHERE), ids[n as usize]) {
            (Insertion::Inserted(id), None) => {
                assert_eq!(id, count);
                ids[n as usize] = Some(id);
                count += 1;
            }
            (Insertion::Present(id), Some(known)) => assert_eq!(id, known),
            (Insertion::Inserted(_), Some(_)) => panic!("it was there"),
            (Insertion::Present(_), None) => panic!("it was not there"),
        }
    }
    assert_eq!(store.len(), count as usize);
    // Each is still found, and nothing else is.
    for n in 0..8 {
        assert_eq!(store.find_key(&key(n)), ids[n as usize]);
    }
    assert_eq!(store.index.len() > 4, count >= 3);
    count == 3
}

fn narrow_insertions(c: &mut impl Choose) -> bool {
    inserted(c, &[Width::Bits(3)], |n| vec![n])
}

fn wide_insertions(c: &mut impl Choose) -> bool {
    inserted(c, &[Width::Bits(64), Width::Bits(64)], |n| vec![n, !n])
}

mod claims {
    use super::claim;
    // Eight places, eight keys.
    claim!(narrow_insertions, 10);
    claim!(wide_insertions, 10);
}
