//! A store with nearly all of its states on disk is the store in memory; and whatever goes wrong on the disk is noticed.

use super::super::{Arriving, Layout, Packed, ROOT, Store};
use super::*;
use crate::system::Width;
use kanon_refinement::kernel::{Insertion, Rrac};
use proptest::prelude::*;
use std::collections::HashMap;

fn store(layout: &Layout, states: usize) -> Store {
    let spill = Spill { folder: std::env::temp_dir(), states: Some(states) };
    Store::new(layout.clone()).spilling(Some(&spill))
}

fn layouts() -> [Layout; 4] {
    [
        Layout::of_bits(&[40, 3]),
        Layout::of_bits(&[64, 64]),
        Layout::of_bits(&[40, 40]),
        Layout::new(&[Width::Integer, Width::Name]),
    ]
}

fn row(n: u64) -> [u64; 2] {
    [(n / 3) << 1, n % 3]
}

fn packed(layout: &Layout, n: u64) -> Vec<u64> {
    layout.pack(&row(n)).to_vec()
}

/// States as a search stores them: parents are earlier states.
fn fill(store: &mut Store, numbers: impl Iterator<Item = u64>) -> HashMap<u64, (StateId, StateId)> {
    let mut known: HashMap<u64, (StateId, StateId)> = HashMap::new();
    for n in numbers {
        let parent = if store.is_empty() { ROOT } else { (n % store.len() as u64) as StateId };
        let insertion = store.insert_if_absent(Arriving { row: &row(n), parent });
        match known.get(&n) {
            Some((id, _)) => assert_eq!(insertion, Insertion::Present(*id), "{n}"),
            None => {
                let id = known.len() as StateId;
                assert_eq!(insertion, Insertion::Inserted(id), "{n}");
                known.insert(n, (id, parent));
            }
        }
    }
    known
}

fn agrees(store: &Store, known: &HashMap<u64, (StateId, StateId)>) {
    assert_eq!(store.len(), known.len());
    for (n, (id, parent)) in known {
        assert_eq!(store.find(&row(*n)), Some(*id), "{n}");
        assert_eq!(store.row(*id)[..], row(*n), "{n}");
        assert_eq!(store.parent(*id), Some(*parent).filter(|p| *p != ROOT), "{n}");
    }
}

#[test]
fn states_on_disk_are_states() {
    for layout in layouts() {
        let mut store = store(&layout, 128);
        let numbers = (0..30_000u64).map(|i| i * i % 9_973);
        let known = fill(&mut store, numbers);
        agrees(&store, &known);
        assert!((10_000..10_100).all(|n| store.find(&row(n)).is_none()));
        let used = store.used().expect("some are on disk");
        assert!(used.merges > 3 && used.runs < 30 && used.states + 200 > store.len(), "{used:?}");
        assert_eq!(store.trouble(), None);
    }
}

#[test]
fn many_are_looked_up_together() {
    for layout in layouts() {
        let mut store = store(&layout, 256);
        fill(&mut store, (0..5_000u64).map(|n| n * 2));
        let on_disk = u64::from(store.on_disk());
        assert!(on_disk > 4_000);
        for wanted in
            [vec![], vec![7], vec![0, 0, 1], (0..20_000).collect(), (0..400).map(|n| n * 25).collect()]
        {
            let keys: Vec<u64> = wanted.iter().flat_map(|n| packed(&layout, *n)).collect();
            let mut known = vec![];
            let looked = store.look_up(&keys, &mut known).expect("the disk works");
            let expected: Vec<bool> = wanted.iter().map(|n| n % 2 == 0 && n / 2 < on_disk).collect();
            assert_eq!(known, expected);
            assert!(looked.covers(store.on_disk()) && !looked.covers(store.on_disk() + 1));
        }
    }
}

/// The word that somebody has looked is out of date when more has been written since.
#[test]
fn an_old_word_is_not_believed() {
    let layout = Layout::of_bits(&[40, 3]);
    let mut store = store(&layout, 128);
    fill(&mut store, 0..1_000);
    let (key, mut known) = (packed(&layout, 5_000), vec![]);
    let looked = store.look_up(&key, &mut known).expect("the disk works");
    assert_eq!(known, [false]);
    let packed = Packed { key: &key, parent: 0, looked };
    let Insertion::Inserted(id) = store.insert_if_absent(packed) else { panic!("it is new") };
    (6_000..7_000).for_each(|n| {
        let _ = store.insert_if_absent(Arriving { row: &row(n), parent: 0 });
    });
    assert!(store.on_disk() > id, "it has gone to disk");
    assert_eq!(store.insert_if_absent(packed), Insertion::Present(id));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_store_on_disk_is_a_map(
        numbers in prop::collection::vec(0u64..3_000, 1..6_000),
        states in 64usize..600,
        layout in 0usize..4,
    ) {
        let layout = &layouts()[layout];
        let mut store = store(layout, states);
        let known = fill(&mut store, numbers.into_iter());
        agrees(&store, &known);
        prop_assert_eq!(store.trouble(), None);
    }

    /// A run is a map from keys to numbers, whatever the blocks.
    #[test]
    fn a_run_is_a_map(numbers in prop::collection::btree_set(0u64..5_000, 1..400), block in 1usize..200) {
        let layout = Layout::of_bits(&[40, 3]);
        let form = Form::new(layout.word_bytes(), Some(block));
        let mut entries: Vec<(u64, u64, StateId)> = vec![];
        for (id, n) in numbers.iter().enumerate() {
            entries.push((hash(&packed(&layout, *n)), *n, id as StateId + 7));
        }
        entries.sort_unstable();
        let ids = 7..7 + entries.len() as StateId;
        let mut writer = Writer::create(&std::env::temp_dir(), &form, ids, 0).expect("a file");
        for (hash, n, id) in &entries {
            writer.push(*hash, &packed(&layout, *n), *id).expect("in order");
        }
        let mut run = writer.finish().expect("all are there");
        let mut room = Room::default();
        for n in 0..5_000 {
            let key = packed(&layout, n);
            let expected = entries.iter().find(|e| e.1 == n).map(|e| e.2);
            if n % 7 == 0 || expected.is_some() {
                prop_assert_eq!(run.find(&form, hash(&key), &key, &mut room), Ok(expected));
            }
        }
        let keys: Vec<u64> = (0..5_000).flat_map(|n| packed(&layout, n)).collect();
        let mut wanted: Vec<Wanted> = keys.iter().enumerate().map(|(i, k)| (hash(&[*k]), i as u32)).collect();
        wanted.sort_unstable();
        let mut known = vec![false; 5_000];
        prop_assert!(run.look_up(&form, &wanted, &keys, &mut known, &mut room).is_ok());
        for (n, known) in known.into_iter().enumerate() {
            prop_assert_eq!(known, numbers.contains(&(n as u64)));
        }
    }
}

/// Equal hashes are not equal keys: a run may have many of them, over several blocks.
#[test]
fn keys_with_one_hash_are_told_apart() {
    let form = Form::new(vec![8], Some(40));
    let keys: Vec<u64> = (0..50).collect();
    let mut writer = Writer::create(&std::env::temp_dir(), &form, 0..50, 0).expect("a file");
    let pushed = keys.iter().try_for_each(|k| writer.push(9, &[*k], *k as StateId));
    assert_eq!(pushed, Ok(()));
    assert!(writer.push(9, &[33], 50).is_err(), "it is there already");
    assert!(writer.push(8, &[77], 50).is_err(), "not in order");
}

/// What goes wrong, and the word by which it is told.
#[test]
fn faults_are_noticed() {
    type Plant = fn(&mut Inner);
    let faults: [(&str, Plant, &str); 9] = [
        ("a run is lost", |d| drop(d.runs.remove(1)), "is missing"),
        ("the last run is lost", |d| drop(d.runs.pop()), "is missing"),
        ("a run loses a state", |d| d.runs[0].entries -= 1, "is missing"),
        ("a bit of a run", |d| d.runs[0].file.damage(5, 0xA5), "is not what was written"),
        ("two runs change places", |d| d.runs.swap(0, 1), "is missing"),
        ("a run is cut", |d| d.runs[0].file.cut(40), "cannot read"),
        ("a bit of a row", |d| d.states.as_mut().expect("states").damage(3, 0xA5), "is not what was written"),
        ("states are cut", |d| d.states.as_mut().expect("states").cut(40), "cannot read"),
        ("states are lost", |d| d.states.as_mut().expect("states").truncate(0), "is missing"),
    ];
    for (what, plant, told) in faults {
        let layout = Layout::of_bits(&[40, 3]);
        let mut store = store(&layout, 256);
        fill(&mut store, 0..4_000);
        let n = u64::from(store.on_disk());
        let disk = store.disk.as_ref().expect("it has one");
        disk.inner().chunks = Default::default();
        assert!(disk.inner().runs.len() > 2, "{what}");
        plant(&mut disk.inner());
        let keys: Vec<u64> = (0..n).flat_map(|n| packed(&layout, n)).collect();
        let mut known = vec![];
        let looked = store.look_up(&keys, &mut known);
        // Rows are read one by one.
        (0..n).for_each(|id| drop(store.row(id as StateId)));
        let why = store.trouble().unwrap_or_else(|| panic!("{what} is not noticed: {looked:?}"));
        assert!(why.0.contains(told), "{what}: {why:?}");
    }
}

/// A row that changes its place, and a state that is stored twice since a lookup has missed it, are noticed when runs are
/// merged.
#[test]
fn what_does_not_fit_is_noticed_by_a_merge() {
    let layout = Layout::of_bits(&[40, 3]);
    let form = Form::new(layout.word_bytes(), None);
    let folder = std::env::temp_dir();
    let run = |ids: std::ops::Range<StateId>, of: &dyn Fn(StateId) -> u64| {
        let mut entries: Vec<_> = ids.clone().map(|id| (packed(&layout, of(id)), id)).collect();
        entries.sort_by_key(|(key, _)| hash(key));
        let mut writer = Writer::create(&folder, &form, ids, 0)?;
        entries.iter().try_for_each(|(key, id)| writer.push(hash(key), key, *id))?;
        writer.finish()
    };
    let plain = |id: StateId| u64::from(id);
    let mut good = [run(0..100, &plain), run(100..300, &plain)].map(|r| r.expect("a run"));
    let merged = merge(&folder, &form, &mut good).expect("one run");
    assert_eq!((merged.entries, merged.ids.clone(), merged.level), (300, 0..300, 1));
    // State 250 is state 50 again.
    let twice = |id: StateId| if id == 250 { 50 } else { u64::from(id) };
    let mut bad = [run(0..100, &plain), run(100..300, &twice)].map(|r| r.expect("a run"));
    let why = merge(&folder, &form, &mut bad).expect_err("a state is there twice");
    assert!(why.0.contains("stored twice"), "{why:?}");
    // A state is missing, or another has its number.
    assert!(run(0..100, &|id| if id == 7 { 8 } else { u64::from(id) }).is_err());
    let mut writer = Writer::create(&folder, &form, 0..2, 0).expect("a file");
    let (a, b) = (packed(&layout, 1), packed(&layout, 2));
    let mut two = [(hash(&a), a), (hash(&b), b)];
    two.sort();
    let pushed = two.iter().try_for_each(|(hash, key)| writer.push(*hash, key, 1));
    assert_eq!((pushed, writer.finish().is_err()), (Ok(()), true));
}

/// A search that cannot write keeps all that it has, and says why it ends.
#[test]
fn nothing_is_lost_that_cannot_be_written() {
    let layout = Layout::of_bits(&[40, 3]);
    let spill = Spill { folder: "/nowhere/at/all".into(), states: Some(128) };
    assert!(spill.try_folder().is_err_and(|why| why.contains("/nowhere/at/all")));
    let mut store = Store::new(layout.clone()).spilling(Some(&spill));
    let known = fill(&mut store, 0..10_000);
    assert_eq!(store.on_disk(), 0);
    agrees(&store, &known);
    assert!(store.trouble().is_some_and(|why| why.0.contains("cannot write files in /nowhere/at/all")));
}
