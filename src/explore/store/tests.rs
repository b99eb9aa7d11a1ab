//! Rows come back, one is stored once, and views show nothing that is not stored.

use super::*;
use crate::system::Width;
use crate::value::packed::Packing;

fn layouts() -> [Layout; 4] {
    // One word, one full word, two packed words, and names beside sets.
    [
        Layout::of_bits(&[10, 1]),
        Layout::of_bits(&[64, 64]),
        Layout::of_bits(&[40, 40]),
        Layout::new(&[Width::Name, Width::Bits(1)]),
    ]
}

#[test]
fn equal_rows_have_one_id_and_rows_come_back() {
    for layout in layouts() {
        let mut store = Store::new(layout);
        for i in 0..5_000u64 {
            let row = [i % 1000, i / 1000 % 2];
            let id = store.len() as StateId;
            store.prefetch_row(&row);
            match store.insert_if_absent(Arriving { row: &row, parent: ROOT }) {
                Insertion::Inserted(new) => assert_eq!((new, i < 2000), (id, true)),
                Insertion::Present(old) => assert_eq!((&store.row(old)[..], i >= 2000), (&row[..], true)),
            }
        }
        assert_eq!(store.len(), 2000);
        assert!((0..2000).all(|id| store.find(&store.row(id)) == Some(id)));
        assert_eq!(store.find(&[1001, 0]), None);
    }
}

#[test]
fn a_state_without_variables_is_one_state() {
    let mut store = Store::new(Layout::new(&[]));
    assert_eq!(store.insert_if_absent(Arriving { row: &[], parent: ROOT }), Insertion::Inserted(0));
    assert_eq!(store.insert_if_absent(Arriving { row: &[], parent: ROOT }), Insertion::Present(0));
    assert!(store.row(0).is_empty());
}

#[test]
fn full_words_are_kept_whole() {
    let mut store = Store::new(Layout::of_bits(&[64, 64]));
    for row in [[u64::MAX, 0], [0, u64::MAX], [u64::MAX, u64::MAX]] {
        let Insertion::Inserted(id) = store.insert_if_absent(Arriving { row: &row, parent: ROOT }) else {
            panic!("{row:?} is new")
        };
        assert_eq!(store.row(id)[..], row);
    }
}

#[test]
fn a_row_may_be_kept_twice() {
    for layout in layouts() {
        let mut store = Store::new(layout);
        let key = Arriving { row: &[5, 1], parent: ROOT };
        assert_eq!((store.append(key), store.append(key)), (0, 1));
        assert_eq!((&store.row(1)[..], store.find(key.row)), (key.row, Some(0)));
    }
}

/// Also when there are more of those than the index has places for.
#[test]
fn many_rows_may_be_kept_twice() {
    let mut store = Store::with_places(Layout::of_bits(&[10, 1]), 4);
    for id in 0..3_000 {
        let key = Arriving { row: &[id % 3, 1], parent: ROOT };
        assert_eq!(store.append(key), id as StateId);
    }
    assert!((0..3u64).all(|row| store.find(&[row, 1]) == Some(row as StateId)));
    assert_eq!(store.find(&[3, 1]), None);
}

/// A view is looked at while the store is written to: what was never stored is not there, what was stored before
/// the view was made is.
#[test]
fn views_may_be_looked_at_while_states_arrive() {
    let layouts = [Layout::of_bits(&[30, 1]), Layout::of_bits(&[64, 64])];
    for layout in layouts.iter().cycle().take(8).cloned() {
        let mut store = Store::new(layout);
        let add = |store: &mut Store, i: u64| {
            let _ = store.insert_if_absent(Arriving { row: &[i, 0], parent: ROOT });
        };
        let before = 400_000;
        (0..before).for_each(|i| add(&mut store, i));
        let view = store.view();
        let is_done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let (mut keys, mut rounds) = (vec![], 0);
                while rounds == 0 || !is_done.load(std::sync::atomic::Ordering::SeqCst) {
                    let mut has = |row: [u64; 2]| {
                        keys.clear();
                        let hash = view.pack(&row, &mut keys);
                        view.approach(hash);
                        view.has(&keys, hash, view.seen())
                    };
                    for i in (0..20_000).map(|i| (i + rounds * 20_000) % before) {
                        assert!(has([i, 0]), "what is stored is seen");
                        assert!(!has([i, 1]), "and nothing else");
                    }
                    rounds += 1;
                }
            });
            // Not so many that the index grows: the view would keep the old one.
            let room = store.room() as u64;
            (before..before + room - 1).for_each(|i| add(&mut store, i));
            is_done.store(true, std::sync::atomic::Ordering::SeqCst);
            assert!(reader.join().is_ok());
        });
        assert_eq!(store.index.len(), view.index.len());
    }
}

/// Stores of any layout are a map from rows to numbers, through several growths of the index.
#[test]
fn a_store_is_a_map() {
    use proptest::prelude::*;
    let sequences = (1u64..40).prop_map(|n| Width::Sequence(Packing::of(n).expect("many fit")));
    let bits = (1u32..=64).prop_map(Width::Bits);
    let width = prop_oneof![bits, Just(Width::Name), Just(Width::Integer), sequences];
    let rows = prop::collection::vec(prop::collection::vec(any::<u64>(), 5), 1..700);
    let case = (prop::collection::vec(width, 0..=5), rows, 0u32..4, 2usize..9);
    proptest!(ProptestConfig::with_cases(300), |((widths, rows, few, least) in case)| {
        let mut store = Store::with_places(Layout::new(&widths), 1 << least);
        let mut ids = std::collections::HashMap::new();
        for (n, words) in rows.iter().enumerate() {
            let row: Vec<u64> = widths
                .iter()
                .zip(words)
                .map(|(width, w)| match width {
                    Width::Bits(bits) => (w >> (64 - bits)) >> (bits / 4 * few),
                    Width::Name => w >> (few * 16),
                    // A tagged integer, or a name.
                    Width::Integer => (*w as i64 >> (few * 16)) as u64,
                    Width::Sequence(_) if w % 8 == 1 => w >> (few * 16) | 1,
                    Width::Sequence(packing) => {
                        let size = ((w >> 3) as usize % (packing.most() + 1)) >> few;
                        let items: Vec<u64> = (0..size).map(|i| (w >> i) % packing.carrier()).collect();
                        packing.word(items.into_iter()).expect("it fits")
                    }
                })
                .collect();
            let parent = if n % 7 == 0 { ROOT } else { (n / 3) as StateId };
            let next = ids.len() as StateId;
            let known = ids.get(&row).map(|(id, _)| *id);
            prop_assert_eq!(store.find(&row), known);
            match store.insert_if_absent(Arriving { row: &row, parent }) {
                Insertion::Inserted(id) => {
                    prop_assert_eq!((known, id), (None, next));
                    ids.insert(row, (id, parent));
                }
                Insertion::Present(id) => prop_assert_eq!(known, Some(id)),
            }
        }
        prop_assert_eq!(store.len(), ids.len());
        let (layout, frozen) = store.freeze();
        let keys: Vec<Row> = frozen.keys().collect();
        let parents: Vec<StateId> = frozen.parents().collect();
        prop_assert_eq!((keys.len(), parents.len()), (ids.len(), ids.len()));
        let view = store.view();
        for (row, (id, parent)) in &ids {
            prop_assert_eq!(&store.row(*id)[..], &row[..]);
            prop_assert_eq!(store.parent(*id), Some(*parent).filter(|p| *p != ROOT));
            prop_assert_eq!(parents[*id as usize], *parent);
            prop_assert!(layout.unpack(&keys[*id as usize]).eq(row.iter().copied()));
            let mut key = vec![];
            let hash = view.pack(row, &mut key);
            prop_assert!(view.has(&key, hash, view.seen()));
        }
    });
}

/// Parents of many chunks: in order, equal, and any.
#[test]
fn parents_come_back() {
    let mut store = Store::new(Layout::of_bits(&[20]));
    let parent = |i: u32| match i >> 14 {
        0 => ROOT,
        1 => i - (1 << 14),
        2 if i.is_multiple_of(5_000) => ROOT,
        2 => i / 3,
        _ => (u64::from(i) * 2_654_435_761 % u64::from(i)) as u32,
    };
    let n = (1 << 16) + 1_000;
    for i in 0..n {
        let _ = store.insert_if_absent(Arriving { row: &[u64::from(i)], parent: parent(i) });
    }
    let (_, frozen) = store.freeze();
    assert!(frozen.parents().eq((0..n).map(parent)));
    assert!((0..n).all(|i| store.parent(i) == Some(parent(i)).filter(|p| *p != ROOT)));
    assert!(frozen.keys().eq((0..n).map(|i| Row::from_slice(&[u64::from(i)]))));
}

/// A row of zeros is what a row looks like that is not written yet.
#[test]
fn a_view_never_shows_a_row_that_is_to_come() {
    for layout in layouts() {
        let mut store = Store::new(layout);
        let view = store.view();
        let zero = |seen| {
            let mut key = vec![];
            let hash = view.pack(&[0, 0], &mut key);
            view.has(&key, hash, seen)
        };
        for i in 1..150u64 {
            let _ = store.insert_if_absent(Arriving { row: &[i, 1], parent: ROOT });
        }
        store.tell();
        assert!(!zero(view.seen()));
        let _ = store.insert_if_absent(Arriving { row: &[0, 0], parent: ROOT });
        assert_eq!(store.find(&[0, 0]), Some(149));
    }
}

/// While the index is made anew several times, in the memory that it has, others look: what they find is stored.
#[test]
fn views_may_be_looked_at_while_the_index_grows() {
    // Rows with odd numbers are never stored; that of zeros is, and comes last.
    let mut store = Store::with_places(Layout::of_bits(&[40, 1]), 1 << 21);
    let add = |store: &mut Store, i: u64| {
        let _ = store.insert_if_absent(Arriving { row: &[i, 0], parent: ROOT });
    };
    (1..1_500_000).for_each(|i| add(&mut store, i));
    let views: Vec<View> = (0..2).map(|_| store.view()).collect();
    let is_done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let mut readers = vec![];
        for view in &views {
            let is_done = &is_done;
            readers.push(scope.spawn(move || {
                let (mut key, mut at, mut missed) = (vec![], 0u64, 0);
                while !is_done.load(Ordering::SeqCst) {
                    at = (at + 7_919) % 1_499_999;
                    let mut has = |row: [u64; 2]| {
                        key.clear();
                        let hash = view.pack(&row, &mut key);
                        view.approach(hash);
                        view.has(&key, hash, view.seen())
                    };
                    assert!(!has([0, 0]) && !has([at, 1]) && !has([1 << 30 | at, 0]), "what is not stored");
                    missed += u64::from(!has([at + 1, 0]));
                }
                missed
            }));
        }
        let before = store.index.len();
        (1_500_000..3_300_000).for_each(|i| add(&mut store, i));
        assert!(store.index.len() > before && store.is_beyond(&views[0]));
        is_done.store(true, Ordering::SeqCst);
        for reader in readers {
            assert!(reader.join().is_ok());
        }
    });
    add(&mut store, 0);
    assert_eq!(store.find(&[0, 0]), Some(3_299_999));
    let view = store.view();
    let mut key = vec![];
    let hash = view.pack(&[0, 0], &mut key);
    assert!(view.has(&key, hash, view.seen()));
}

/// An index that may not grow is filled further, and says so; one that would have no free place grows all the same.
#[test]
#[cfg(target_os = "linux")]
fn an_index_asks_before_it_grows() {
    let mut store = Store::with_places(Layout::of_bits(&[40]), 1 << 18).within(Limit(Some(1)));
    let n = 1 << 18;
    for i in 0..n / 4 * 3 - 1 {
        let _ = store.insert_if_absent(Arriving { row: &[i], parent: ROOT });
    }
    assert!(!store.is_cramped() && store.room() == 1);
    let _ = store.insert_if_absent(Arriving { row: &[n], parent: ROOT });
    assert!(store.is_cramped() && store.room() > 0 && store.index.len() == 1 << 18);
    for i in n + 1..2 * n {
        let _ = store.insert_if_absent(Arriving { row: &[i], parent: ROOT });
    }
    assert!(store.index.len() > 1 << 18 && store.room() > 0);
    assert!((0..store.len() as StateId).all(|id| store.find(&store.row(id)) == Some(id)));
}
