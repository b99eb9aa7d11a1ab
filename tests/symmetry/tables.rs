//! Tables 1 and 2 of *ProB gets Nauty*, on our own models: every state count of the columns wo, sym, flood, hash and
//! nausym, at every size that finishes in a minute.
//!
//! The paper counts as ProB does: a root, one state for each explored valuation of the constants, and the states
//! after initialisation. [`Counted::as_paper`] is the one place where that is added up.
//!
//! The column hash depends on which of two states with the same marker is met first. A count must lie between
//! the lowest that an order can give and the exact one; *ProB gets Nauty* gives one order's, prob-measured.csv another's.
//! The column canon of the paper is its old implementation's; ours is exact, so it must equal nausym.

use crate::support::{explore, solved};
use kanon::explore::{Explored, Options};
use kanon::model::load::load;
use kanon::model::scope::{ScopeArgs, scope};
use kanon::symmetry::Strategy;
use kanon::system::Stop;
use std::path::Path;

struct Counted {
    states: usize,
    /// Valuations explored; one for the model without constants, but then ProB has no state for it.
    constants: usize,
    has_constants: bool,
    flooded: Option<usize>,
}

impl Counted {
    fn as_paper(&self) -> usize {
        let constants = if self.has_constants { self.constants } else { 0 };
        1 + constants + self.states
    }
}

fn run(file: &str, sets: &[&str], card: u64, strategy: Strategy) -> Counted {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/papers").join(file);
    let model = load(&path).model.expect("a model");
    let card = sets.iter().map(|s| (s.to_string(), card)).collect();
    let scope = scope(&model, &ScopeArgs { card, ..ScopeArgs::default() }).expect("sizes").0;
    let stop = Stop::default();
    let (system, _) = solved(&model, &scope, 100_000, &stop);
    let options = Options { symmetry: strategy, invariant: false, deadlock: false, ..Options::default() };
    let Explored { counts, reduction, .. } = explore(&system, &options, &stop);
    assert_eq!(counts.open, 0, "{file}");
    Counted {
        states: counts.states,
        constants: counts.constants,
        has_constants: !model.constants.is_empty(),
        flooded: reduction.and_then(|r| r.effort.flooded),
    }
}

/// A row: card, wo, sym, and whether the unreduced count is worth its time in a test.
type Row = (u64, Option<usize>, usize);

fn table1(file: &str, sets: &[&str], rows: &[Row]) {
    for (card, wo, sym) in rows {
        if let Some(wo) = wo {
            let off = run(file, sets, *card, Strategy::Off);
            assert_eq!(off.as_paper(), *wo, "{file} {card}: wo");
            let flood = run(file, sets, *card, Strategy::Flood);
            assert_eq!(flood.as_paper(), *sym, "{file} {card}: flood");
            assert_eq!(flood.flooded, Some(off.states).filter(|_| *card > 1), "{file} {card}: flooded");
        }
        for strategy in exact() {
            let n = run(file, sets, *card, strategy).as_paper();
            assert_eq!(n, *sym, "{file} {card}: {strategy}");
        }
        // Table 1 has the models on which markers are precise.
        let markers = run(file, sets, *card, Strategy::Markers).as_paper();
        assert_eq!(markers, *sym, "{file} {card}: markers");
    }
}

fn exact() -> Vec<Strategy> {
    let mut all = vec![Strategy::Canon, Strategy::Auto];
    if cfg!(feature = "nauty") {
        all.push(Strategy::Nauty);
    }
    all
}

#[test]
fn table_1_scheduler0() {
    let rows = [
        (2, Some(16), 10),
        (3, Some(55), 17),
        (4, Some(190), 26),
        (5, Some(649), 37),
        (6, Some(2188), 50),
        (7, Some(7291), 65),
    ];
    table1("scheduler0.mch", &["PROC"], &rows);
}

#[test]
fn table_1_scheduler1() {
    let rows = [
        (2, Some(27), 14),
        (3, Some(145), 29),
        (4, Some(825), 51),
        (5, Some(5201), 81),
        (6, Some(37009), 120),
        (7, None, 169),
        (10, None, 386),
        (15, None, 1041),
        (20, None, 2171),
    ];
    table1("scheduler1.mch", &["PROC"], &rows);
}

#[test]
fn table_1_russian_postal_puzzle() {
    let rows = [
        (1, Some(15), 15),
        (2, Some(81), 48),
        (3, Some(441), 119),
        (4, Some(2325), 248),
        (5, Some(11985), 459),
    ];
    table1("RussianPostalPuzzle.mch", &["LOCK"], &rows);
}

#[test]
fn table_1_usb_4_endpoints() {
    let rows = [(1, Some(29), 29), (2, Some(694), 355), (3, Some(16906), 3013)];
    table1("USB_4Endpoints.mch", &["TRANSFER"], &rows);
}

/// Of table 2: card, wo, nausym (also flood), and the lowest and highest count of markers that is known or exact.
fn table2(file: &str, sets: &[&str], rows: &[(u64, Option<usize>, usize, usize)]) {
    for (card, wo, nausym, hash) in rows {
        if let Some(wo) = wo {
            assert_eq!(run(file, sets, *card, Strategy::Off).as_paper(), *wo, "{file} {card}: wo");
            let flood = run(file, sets, *card, Strategy::Flood).as_paper();
            assert_eq!(flood, *nausym, "{file} {card}: flood");
        }
        for strategy in exact() {
            let n = run(file, sets, *card, strategy).as_paper();
            assert_eq!(n, *nausym, "{file} {card}: {strategy}");
        }
        let markers = run(file, sets, *card, Strategy::Markers).as_paper();
        println!("{file} {card}: markers met {markers} states, at least {hash}, exact {nausym}");
        assert!((*hash..=*nausym).contains(&markers), "{file} {card}: markers {markers}");
    }
}

#[test]
fn table_2_token_ring() {
    let rows = [
        (2, Some(35), 19, 19),
        (3, Some(295), 60, 60),
        (4, Some(3097), 174, 141),
        (5, Some(38521), 480, 278),
        (6, None, 1252, 495),
        (7, None, 3160, 816),
    ];
    table2("TokenRing.mch", &["Server"], &rows);
}

#[test]
fn table_2_dining() {
    let rows = [(2, Some(21), 8, 7), (3, Some(337), 13, 11), (4, Some(17713), 48, 17)];
    table2("Dining.mch", &["Phil", "Fork"], &rows);
}

#[test]
fn table_2_towns() {
    let rows = [(2, Some(17), 11, 11), (3, Some(513), 105, 105), (4, Some(65537), 3045, 3011)];
    table2("Towns.mch", &["TOWN"], &rows);
}
