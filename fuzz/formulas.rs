//! Proofs of temporal formulas with a few changes, for kanon-checker. The proofs are kanon's own, and the input is what is
//! changed in them. Half of the claims are formulas of the same shape that do not hold: one that is accepted is a wrong
//! answer, and a panic here.

use kanon::certify::{self, ltl::Paths};
use kanon::ltl::atoms::{self, Bound};
use kanon::ltl::machine::space;
use kanon::ltl::space::Limits;
use kanon::ltl::{Options, check, reduce};
use kanon::model::load::load_text;
use kanon::model::open::Opened;
use kanon::model::scope::{ScopeArgs, scope};
use kanon::symmetry::{Action, MachineAction, Reducer, Strategy};
use kanon::system::{Machine, Stop};
use kanon_checker::Rejected;
use kanon_checker::check::{Effort, Part, sizes};
use kanon_checker::container::{Kind, Reader, Writer};
use kanon_checker::ltl::check_formula;
use kanon_checker::statement::{Claims, Constants, Goal, Statement};
use std::sync::{Arc, OnceLock};

const TEXT: &str = "MACHINE turns SETS P VARIABLES on, was INVARIANT on <: P & was : {0, 1}
    INITIALISATION on := {} || was := 0
    OPERATIONS up(x) = PRE x : P & x /: on THEN on := on \\/ {x} || was := 1 END;
               down(x) = PRE x : on THEN on := on - {x} || was := 0 END;
               stay = skip END";

/// Formulas that hold, each with some that do not.
const FORMULAS: [(&str, [&str; 2]); 4] = [
    (
        "WF(down) => G ({on = P} => F [down])",
        ["G ({on = P} => F [down])", "WF(down) => G ({on = P} => F [up])"],
    ),
    (
        "SF(down) & WF(up) => G F [down]",
        ["SF(down) & WF(down) => G F [down]", "SF(up) & WF(stay) => G F [down]"],
    ),
    ("G ([down] => O [up])", ["G ([up] => O [down])", "G ([down] => O [stay])"]),
    ("G ({was = 1} => not {on = {}})", ["G ({was = 0} => not {on = {}})", "G ({was = 1} => not {on = P})"]),
];

struct Proved {
    statement: Statement,
    chunks: Vec<(Kind, Vec<u8>)>,
    /// What may be claimed: what was proved, and what does not hold.
    claims: Vec<Bound>,
}

/// The model, and each proof without and with symmetry.
struct Proofs {
    system: Arc<Machine>,
    proved: Vec<Proved>,
}

fn proofs() -> Proofs {
    let model = load_text("fuzzed/turns.mch", TEXT).model.expect("our own model");
    let sizes = ScopeArgs { card: vec![("P".into(), 2)], ..ScopeArgs::default() };
    let scope = scope(&model, &sizes).expect("sizes").0;
    let mut machine = Machine::new(model.clone(), scope.clone());
    machine.setup(1, &Stop::default());
    let system = Arc::new(machine);
    let mut opened = Opened { model, scope, ..Opened::default() };
    let mut bound = |text: &str| atoms::bind(&mut opened, "formula", text).expect("our own formula");
    let mut proved = vec![];
    for (holds, fail) in FORMULAS {
        let claims: Vec<Bound> = [holds, fail[0], fail[1]].map(&mut bound).into();
        for strategy in [Strategy::Off, Strategy::Canon] {
            let found = claims.iter().map(|b| proof(&system, b, strategy)).collect::<Vec<_>>();
            let bytes = match &found[..] {
                [Some(bytes), None, None] => bytes,
                _ => panic!("{holds} and {fail:?} are not as they should be"),
            };
            let (mut reader, text) = Reader::new(&bytes[..]).expect("our own certificate");
            let mut chunks = vec![];
            while let Some(chunk) = reader.chunk().expect("our own certificate") {
                chunks.push(chunk);
            }
            let statement = Statement::read(&text).expect("our own statement");
            proved.push(Proved { statement, chunks, claims: claims.clone() });
        }
    }
    Proofs { system, proved }
}

/// The certificate of a formula, if it holds.
fn proof(system: &Arc<Machine>, bound: &Bound, strategy: Strategy) -> Option<Vec<u8>> {
    let stop = Stop::default();
    let group = reduce::group(system, bound, strategy).ok()?;
    let action: Arc<dyn Action> = Arc::new(MachineAction::new(system, group));
    let strategy = reduce::representatives(strategy);
    let is_moved = !action.group().is_trivial();
    let reducer = if is_moved { Reducer::new(&action, strategy, false) } else { None };
    let is_reduced = reducer.is_some();
    let mut seen = space(system, bound, reducer, Limits::default(), None, &stop);
    let options = Options { prove: true, ..Options::default() };
    let proved = check(&mut seen, &bound.property, &options).expect("a small formula").proved?;
    let rows: Vec<Vec<u64>> =
        certify::ltl::states(&proved).into_iter().map(|s| seen.row(s).to_vec()).collect();
    let reduction = is_reduced.then_some((&action, strategy));
    let symmetry = reduction.map(|(a, _)| certify::sets(a.group(), &system.model)).unwrap_or_default();
    let claims = Claims {
        invariant: false,
        assertions: false,
        no_deadlock: false,
        goal: Goal::Ignored,
        goal_text: None,
        formula: Some(bound.text.clone()),
    };
    let statement = Statement {
        kanon: "fuzzed".into(),
        files: vec![],
        machine: "turns".into(),
        sets: sizes(&system.model, &system.scope),
        minint: system.scope.minint.clone(),
        maxint: system.scope.maxint.clone(),
        wd: "kleene".into(),
        constants: Constants::Enumerated,
        claims,
        symmetry,
        valuations: 1,
        states: rows.len() as u64,
        formulas: None,
    };
    let instances = seen.propositions().instances();
    let paths = Paths { property: &bound.property, proved: &proved, rows: &rows, instances: &instances };
    certify::ltl::write(vec![], &statement.json(), system, reduction, &paths, &stop).ok()
}

/// The first byte says which proof is changed, and which formula it is said to be of; then four bytes are one change. True if
/// the checker has come as far as the nodes.
pub fn changed(bytes: &[u8]) -> bool {
    static PROOFS: OnceLock<Proofs> = OnceLock::new();
    let Proofs { system, proved } = PROOFS.get_or_init(proofs);
    let Some((first, changes)) = bytes.split_first() else { return false };
    let first = usize::from(*first);
    let proof = &proved[first % proved.len()];
    // Every other claim is the one that was proved.
    let (claim, bound) = match first / proved.len() % 4 {
        n @ (1 | 3) => (n / 2 + 1, &proof.claims[n / 2 + 1]),
        _ => (0, &proof.claims[0]),
    };
    let mut statement = proof.statement.clone();
    statement.claims.formula = Some(bound.text.clone());
    let mut chunks = proof.chunks.clone();
    for change in changes.chunks_exact(4) {
        let [place, how, at, to] = [change[0], change[1], change[2], change[3]];
        let place = usize::from(place) % chunks.len().max(1);
        let Some((_, content)) = chunks.get_mut(place) else { break };
        let at = usize::from(at) % content.len().max(1);
        match how % 10 {
            0..=3 => content.iter_mut().skip(at).take(1).for_each(|b| *b = to),
            4 => content.insert(at, to),
            5 if !content.is_empty() => drop(content.remove(at)),
            6 if !content.is_empty() => {
                let other = usize::from(to) % content.len();
                content.swap(at, other);
            }
            7 => content.truncate(at),
            8 => statement.states = (statement.states + u64::from(to)).saturating_sub(2),
            9 => drop(chunks.remove(place)),
            _ => {}
        }
    }
    let mut writer = Writer::new(vec![], &statement.json()).expect("memory");
    chunks.iter().for_each(|(kind, content)| writer.chunk(*kind, content).expect("memory"));
    let file = writer.seal().expect("memory");
    let effort = Effort { root: 100_000, solved: 100_000, state: 100_000 };
    let found =
        check_formula(&system.model, &system.scope, bound, &mut || Ok(&file[..]), Part::WHOLE, effort);
    assert!(claim == 0 || found.is_err(), "accepted, and it does not hold: {}", bound.text);
    assert!(claim > 0 || !changes.is_empty() || found.is_ok(), "kanon's own proof of {}", bound.text);
    matches!(found, Ok(_) | Err(Rejected::Node { .. } | Rejected::MissingSuccessor { .. }))
}
