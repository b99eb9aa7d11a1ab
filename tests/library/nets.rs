//! Random coloured nets: explored with colours, unfolded, and reduced, against what they do by definition.

#[path = "../../src/pnml/tests/random/mod.rs"]
#[allow(dead_code)]
mod random;

use kanon::explore::Options;
use kanon::run::Deadline;
use kanon::run::other::{Asked, Checked, Language, open};
use kanon::symmetry::Strategy;
use random::{Net, Source};
use std::path::Path;

const MOST: usize = 400;

fn checked(name: &str, text: &str, symmetry: Strategy) -> Checked {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("random-{name}.pnml"));
    std::fs::write(&path, text).expect("a file");
    let model = open(&path, Language::Net, &Asked::default(), &Deadline::never());
    let model = model.unwrap_or_else(|e| panic!("{:?}: {text}", e.diagnostics));
    let options = Options { all: true, symmetry, ..Options::default() };
    model.check(&options, &Deadline::never(), &mut |_| {}).expect("options that go together")
}

#[test]
fn random_nets_have_the_states_and_orbits_of_their_definition() {
    let (mut explored, mut reduced) = (0, 0);
    for seed in 0..600 {
        let net = Net::any(&mut Source(seed));
        let Some((states, transitions)) = net.states(MOST) else { continue };
        let coloured = checked("coloured", &net.coloured(), Strategy::Off);
        let plain = checked("plain", &net.plain(), Strategy::Off);
        let counts = |c: &Checked| (c.verdict, c.counts.states, c.counts.transitions, c.counts.deadlocks);
        assert_eq!(counts(&coloured), counts(&plain), "{seed}: {net:?}");
        assert_eq!(
            (coloured.counts.states, coloured.counts.transitions),
            (states.len(), transitions),
            "{seed}"
        );
        let orbits = net.orbits(&states);
        for strategy in [Strategy::Canon, Strategy::Auto, Strategy::Flood] {
            let c = checked("coloured", &net.coloured(), strategy);
            assert_eq!(c.verdict, coloured.verdict, "{seed}: {net:?}");
            assert_eq!((c.counts.states, c.kept), (orbits, 0), "{seed}: {strategy}: {net:?}");
        }
        explored += usize::from(states.len() > 3);
        reduced += usize::from(orbits < states.len());
    }
    assert!(explored > 30 && reduced > 8, "{explored} explored, {reduced} reduced");
}
