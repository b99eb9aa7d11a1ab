//! Visited sets that reduce: what arrives is looked up by its orbit.
//!
//! | set | stands for | chain |
//! |---|---|---|
//! | [`Keyed`] | the image of the state under a witness | `lab`, and rmc2 if the labelling is canonical |
//! | [`Flooded`] | the first state seen of the orbit, all others being flooded | rmc1, `first` |
//! | [`Marked`] | the first state seen with the marker | none: approximate, so never Holds |

use super::hooks::{ByKey, Effort, Keys, Visited};
use super::store::{Arriving, Packed, StateId, Store};
use crate::symmetry::Marks;
use crate::symmetry::Reducer;
use crate::symmetry::markers::Marker;
use crate::symmetry::orbit::Orbits;
use crate::verdict::Exact;
use kanon_refinement::kernel::{Insertion, Rrac};
use std::collections::HashMap;

/// Stores keys.
pub(super) struct Keyed {
    pub store: Store,
    pub reducer: Reducer,
}

impl Rrac<Arriving<'_>> for Keyed {
    type Id = StateId;

    #[inline]
    fn insert_if_absent(&mut self, key: Arriving) -> Insertion<StateId> {
        let row = self.reducer.key(key.row);
        self.store.insert_if_absent(Arriving { row, ..key })
    }
}

impl Rrac<Packed<'_>> for Keyed {
    type Id = StateId;

    #[inline]
    fn insert_if_absent(&mut self, key: Packed) -> Insertion<StateId> {
        self.store.insert_if_absent(key)
    }
}

impl Keys for Reducer {
    fn key<'r>(&'r mut self, row: &'r [u64]) -> &'r [u64] {
        Reducer::key(self, row)
    }
}

impl ByKey for Keyed {
    type Keys = Reducer;

    fn keys(&self) -> Reducer {
        self.reducer.another()
    }
    fn merge(&mut self, keys: impl Iterator<Item = Reducer>) {
        keys.for_each(|k| self.reducer.stats.add(&k.stats));
    }
}

impl Visited for Keyed {
    const REDUCES: bool = true;
    const EXACT: Option<Exact> = Some(Exact::BY_KEY);

    fn store(&self) -> &Store {
        &self.store
    }
    fn kept(&self) -> u64 {
        self.reducer.stats.kept
    }
    fn finish(self) -> (Store, Effort) {
        (self.store, Effort { stats: self.reducer.stats, ..Effort::default() })
    }
    fn find(&mut self, row: &[u64]) -> Option<StateId> {
        self.store.find(self.reducer.key(row))
    }
    fn append(&mut self, key: Arriving) -> StateId {
        let row = self.reducer.key(key.row);
        self.store.append(Arriving { row, ..key })
    }
}

/// Stores the first state of an orbit, and knows all of them.
pub(super) struct Flooded {
    pub store: Store,
    /// rac: every state of an orbit that was met. Its "parent" is the state that stands for it.
    pub rac: Store,
    pub orbits: Orbits,
}

impl Rrac<Arriving<'_>> for Flooded {
    type Id = StateId;

    fn insert_if_absent(&mut self, key: Arriving) -> Insertion<StateId> {
        match self.find(key.row) {
            Some(id) => Insertion::Present(id),
            None => Insertion::Inserted(self.append(key)),
        }
    }
}

impl Visited for Flooded {
    const REDUCES: bool = true;
    const EXACT: Option<Exact> = Some(Exact::BY_KEY);

    fn store(&self) -> &Store {
        &self.store
    }
    fn is_cramped(&self) -> bool {
        self.store.is_cramped() || self.rac.is_cramped()
    }
    fn finish(self) -> (Store, Effort) {
        let effort = Effort { flooded: Some(self.rac.len()), bytes: self.rac.bytes(), ..Effort::default() };
        (self.store, effort)
    }
    fn find(&mut self, row: &[u64]) -> Option<StateId> {
        self.rac.find(row).and_then(|at| self.rac.parent(at))
    }
    /// rmc1/add_inv, act4: rac := rac ∪ rep⁻¹[{rep(s2)}].
    fn append(&mut self, key: Arriving) -> StateId {
        let id = self.store.append(key);
        let rac = &mut self.rac;
        let mut add = |row: &[u64]| {
            matches!(rac.insert_if_absent(Arriving { row, parent: id }), Insertion::Inserted(_))
        };
        add(key.row);
        self.orbits.each(key.row, &mut add);
        id
    }
}

/// Stores the first state with a marker.
pub(super) struct Marked {
    pub store: Store,
    pub index: HashMap<Marker, StateId, foldhash::fast::FixedState>,
    pub marking: Box<dyn Marks>,
}

impl Rrac<Arriving<'_>> for Marked {
    type Id = StateId;

    fn insert_if_absent(&mut self, key: Arriving) -> Insertion<StateId> {
        let marker = self.marking.of_row(key.row);
        match self.index.get(&marker) {
            Some(id) => Insertion::Present(*id),
            None => {
                let id = self.store.append(key);
                self.index.insert(marker, id);
                Insertion::Inserted(id)
            }
        }
    }
}

impl Visited for Marked {
    const REDUCES: bool = true;
    const EXACT: Option<Exact> = None;

    fn store(&self) -> &Store {
        &self.store
    }
    fn finish(self) -> (Store, Effort) {
        // A marker and an id, at the map's load of 7/8.
        let bytes = self.index.capacity() * 8 / 7 * (std::mem::size_of::<(Marker, StateId)>() + 1);
        (self.store, Effort { bytes, ..Effort::default() })
    }
    fn find(&mut self, row: &[u64]) -> Option<StateId> {
        self.index.get(&self.marking.of_row(row)).copied()
    }
    fn append(&mut self, key: Arriving) -> StateId {
        self.store.append(key)
    }
}

#[cfg(test)]
mod tests {
    //! Labellings that lie: no answer changes, and none is taken for a witness that is none.

    use super::super::audit::{Audit, explore_with};
    use super::super::drive::run;
    use super::super::hooks::Off;
    use super::super::keep::Keeping;
    use super::super::search::{Explored, Firsts};
    use super::super::{Layout, Options};
    use super::*;
    use crate::model::load::load;
    use crate::model::scope::{ScopeArgs, scope};
    use crate::symmetry::{Action, MachineAction, Perm};
    use crate::system::{Machine, Stop, System};
    use std::path::Path;
    use std::sync::Arc;

    fn machine(file: &str) -> (Arc<Machine>, Arc<dyn Action>) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(file);
        let model = load(&path).model.expect("a model");
        let args = ScopeArgs { setsize: Some(3), ..ScopeArgs::default() };
        let scope = scope(&model, &args).expect("sizes").0;
        let mut system = Machine::new(model, scope);
        system.setup(1_000, &Stop::default());
        let system = Arc::new(system);
        (system.clone(), Arc::new(MachineAction::of(&system)))
    }

    type Label = fn(&[u64], &mut Perm);

    fn keyed(system: &Machine, action: &Arc<dyn Action>, label: Label) -> Keyed {
        let store = Store::new(Layout::new(&system.widths()));
        Keyed { store, reducer: Reducer::given(action, label) }
    }

    fn search((system, action): &(Arc<Machine>, Arc<dyn Action>), label: Label) -> (Explored, u64) {
        let visited = keyed(system, action, label);
        let options = Options::default();
        let keeping = Keeping::default();
        let (explored, _) =
            run(&**system, &options, keeping, &Stop::default(), &mut |_| {}, Off, visited, Firsts::All);
        let kept = explored.reduction.as_ref().map_or(0, |r| r.effort.stats.kept);
        (explored, kept)
    }

    /// The same for all rows, so an orbit has as many keys as members.
    fn identity(_: &[u64], p: &mut Perm) {
        *p = Perm::identity(p.0.len());
    }

    /// A permutation, but one that depends on the row: an orbit may have any number of keys.
    fn arbitrary(row: &[u64], p: &mut Perm) {
        let turn = row.iter().fold(0u64, |h, w| h.wrapping_mul(31).wrapping_add(*w)) as usize;
        *p = Perm::identity(p.0.len());
        let n = p.0.len().max(1);
        p.0.rotate_left(turn % n);
    }

    /// Maps all points to one.
    fn constant(_: &[u64], p: &mut Perm) {
        p.0.fill(0);
    }

    fn too_short(_: &[u64], p: &mut Perm) {
        p.0.truncate(1);
    }

    #[test]
    fn a_lie_costs_states_and_no_answer() {
        let good = machine("papers/scheduler0.mch");
        let (honest, _) = search(&good, identity);
        assert_eq!((honest.verdict.holds(), honest.counts.states), (true, 54));
        let (lied, kept) = search(&good, arbitrary);
        assert_eq!((lied.verdict.holds(), kept), (true, 0));
        assert!((16..=54).contains(&lied.counts.states), "{}", lied.counts.states);
        for no_permutation in [constant, too_short] {
            let (lied, kept) = search(&good, no_permutation);
            assert_eq!((lied.verdict.holds(), lied.counts.states), (true, 54), "kept as they are");
            assert!(kept >= 54);
        }
        let bad = machine("lang/errors/find_invariant.mch");
        for label in [identity, arbitrary, constant, too_short] {
            assert!(search(&bad, label).0.verdict.fails());
        }
    }

    #[test]
    fn an_audit_sees_that_an_orbit_has_two_representatives() {
        let (system, action) = machine("papers/scheduler0.mch");
        let visited = keyed(&system, &action, identity);
        let (_, report) = explore_with(&*system, &action, visited, &Options::default(), &Audit::default());
        let broken = report.broken.expect("a broken clause");
        assert_eq!(broken.clause, "rmc1/add_inv/grd4: rep(s2) ∉ rrac");
    }
}
