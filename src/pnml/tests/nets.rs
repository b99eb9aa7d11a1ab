//! Nets as they are read and unfolded against nets by definition; documents that are wrong, or meant to do harm.

#[allow(dead_code)]
mod random;

use kanon_language::lang::diag::{FileId, SourceMap};
use kanon_pnml::read::read;
use kanon_pnml::symmetry::blocks;
use kanon_pnml::unfold::{Limits, Unfolded, unfold};
use random::{Marking, Net, Source};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn unfolded(text: &str) -> Result<Unfolded, String> {
    let show = |d: kanon_language::lang::diag::Diagnostic| format!("{} {}", d.code, d.message);
    let net = read(FileId(0), text).map_err(show)?;
    let limits = Limits { cells: 100_000, arcs: 20_000, tried: 50_000 };
    unfold(net, limits, &Arc::new(AtomicBool::new(false))).map_err(show)
}

fn marking(net: &Unfolded, tokens: impl Iterator<Item = (usize, u64)>) -> Marking {
    let is_dot = |place: usize| match net.net.places[place].domain[..] {
        [class] => net.net.classes[class].name == "dot",
        _ => false,
    };
    let mut all = Marking::new();
    for (cell, n) in tokens.filter(|(_, n)| *n > 0) {
        let (place, colours) = net.cell(cell);
        all.insert((place, if is_dot(place) { vec![] } else { colours }), n);
    }
    all
}

#[test]
fn random_nets_have_the_modes_of_their_definition_with_colours_and_without() {
    let (mut with_guard, mut reduced) = (0, 0);
    for seed in 0..800 {
        let net = Net::any(&mut Source(seed));
        let coloured =
            unfolded(&net.coloured()).unwrap_or_else(|e| panic!("{seed}: {e}\n{}", net.coloured()));
        let plain = unfolded(&net.plain()).unwrap_or_else(|e| panic!("{seed}: {e}"));
        let own = net.modes();
        assert_eq!(own.len(), coloured.modes.len(), "{seed}: {net:?}");
        assert_eq!(own.len(), plain.modes.len(), "{seed}");
        let wanted: BTreeSet<(usize, Vec<u32>, Marking, Marking)> =
            own.into_iter().map(|m| (m.transition, m.values, m.takes, m.gives)).collect();
        let of = |tokens: &[(u32, u64)]| marking(&coloured, tokens.iter().map(|(c, n)| (*c as usize, *n)));
        let found: BTreeSet<(usize, Vec<u32>, Marking, Marking)> = coloured
            .modes
            .iter()
            .map(|m| (m.transition as usize, m.binding.to_vec(), of(&m.takes), of(&m.gives)))
            .collect();
        assert_eq!(found, wanted, "{seed}: {net:?}");
        assert_eq!(marking(&coloured, coloured.marking.iter().copied().enumerate()), net.marking, "{seed}");
        // The blocks are the classes of the exchanges that keep the net.
        let found: BTreeSet<(usize, u32, u32)> = blocks(&coloured, &[])
            .blocks
            .iter()
            .flat_map(|b| {
                let class = coloured.net.classes[b.class].name[1..].parse::<usize>().unwrap_or(9);
                let pairs = b.colours.iter().flat_map(|x| b.colours.iter().map(move |y| (*x, *y)));
                pairs.filter(|(x, y)| x < y).map(move |(x, y)| (class, x, y)).collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(found, net.exchanges().into_iter().collect(), "{seed}: {net:?}");
        with_guard += usize::from(net.transitions.iter().any(|t| t.guard.is_some()));
        reduced += usize::from(!found.is_empty());
    }
    assert!(with_guard > 150 && reduced > 50, "{with_guard} nets with guards, {reduced} with symmetry");
}

fn net_of(kind: &str, inside: &str) -> String {
    format!(
        "<pnml><net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/{kind}\"><page id=\"g\">{inside}</page></net></pnml>"
    )
}

fn declared(declarations: &str, inside: &str) -> String {
    net_of(
        "symmetricnet",
        &format!(
            "<declaration><structure><declarations>{declarations}</declarations></structure></declaration>{inside}"
        ),
    )
}

const SORT: &str = "<namedsort id=\"S\" name=\"S\"><finiteenumeration><feconstant id=\"a\" name=\"a\"/>\
    <feconstant id=\"b\" name=\"b\"/></finiteenumeration></namedsort><variabledecl id=\"x\" name=\"x\">\
    <usersort declaration=\"S\"/></variabledecl>";

const PLACE: &str = "<place id=\"p\"><type><structure><usersort declaration=\"S\"/></structure></type></place>\
    <transition id=\"t\"/>";

fn with_arc(term: &str) -> String {
    let arc = format!(
        "<arc id=\"a1\" source=\"p\" target=\"t\"><hlinscription><structure>{term}</structure></hlinscription></arc>"
    );
    declared(SORT, &format!("{PLACE}{arc}"))
}

#[test]
fn what_is_wrong_or_not_supported_is_refused_by_name() {
    let x = "<variable refvariable=\"x\"/>";
    let cases = [
        ("<pnml".to_string(), "N0101"),
        ("<cpn/>".to_string(), "N0103 a document of PNML begins with `pnml`"),
        ("<pnml/>".to_string(), "N0103 there is no net"),
        (net_of("hlcorenet", ""), "N0301 nets of the type"),
        (net_of("ptnet", "<place id=\"p\"/><place id=\"p\"/>"), "N0206"),
        (net_of("ptnet", "<place id=\"p\"/><arc id=\"a\" source=\"p\" target=\"q\"/>"), "N0201"),
        (
            net_of("ptnet", "<place id=\"p\"/><place id=\"q\"/><arc id=\"a\" source=\"p\" target=\"q\"/>"),
            "N0210",
        ),
        (net_of("ptnet", "<place id=\"p\"><capacity><text>3</text></capacity></place>"), "N0301"),
        (
            net_of(
                "ptnet",
                "<place id=\"p\"/><transition id=\"t\"/><arc id=\"a\" source=\"p\" target=\"t\"><type value=\"inhibitor\"/></arc>",
            ),
            "N0301 an arc of the type `inhibitor`",
        ),
        (
            net_of("ptnet", "<place id=\"p\"><initialMarking><text>-1</text></initialMarking></place>"),
            "N0104 `-1`",
        ),
        (
            net_of(
                "ptnet",
                "<place id=\"p\"><initialMarking><text>99999999999999999999999999</text></initialMarking></place>",
            ),
            "N0104",
        ),
        (net_of("ptnet", "<referencePlace id=\"r\" ref=\"r\"/>"), "N0207"),
        (declared("<arbitrarydeclaration/>", ""), "N0301"),
        (
            declared(
                "<namedsort id=\"A\" name=\"A\"><productsort><usersort declaration=\"A\"/></productsort></namedsort>",
                "",
            ),
            "N0201 `A` is not declared",
        ),
        (
            declared(
                "<namedsort id=\"A\" name=\"A\"><finiteintrange start=\"0\" end=\"99999999999\"/></namedsort>",
                "",
            ),
            "N0208",
        ),
        (with_arc(&format!("<successor><subterm>{x}</subterm></successor>")), "N0204"),
        (with_arc("<variable refvariable=\"y\"/>"), "N0201 `y` is not declared"),
        (
            with_arc(&format!("<multiplication>{x}{x}</multiplication>")),
            "N0301 an operator for colours (`multiplication`)",
        ),
        (with_arc(&format!("<tuple>{x}{x}</tuple>")), "N0203"),
        (
            with_arc(&format!(
                "<subtract><subterm>{x}</subterm><subterm><useroperator declaration=\"a\"/></subterm></subtract>"
            )),
            "N0211",
        ),
        (with_arc(""), "N0103 an arc of a place with colours"),
    ];
    for (text, wanted) in cases {
        match unfolded(&text) {
            Ok(_) => panic!("{wanted} is expected of {text}"),
            Err(found) => assert!(found.starts_with(wanted), "{found}, and not {wanted}: {text}"),
        }
    }
}

#[test]
fn hostile_documents_end_soon() {
    // Entities do not exist here.
    let bomb = "<!DOCTYPE pnml [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]><pnml>&b;</pnml>";
    assert!(unfolded(bomb).is_err_and(|e| e.starts_with("N0101")));
    let outside = "<!DOCTYPE pnml [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><pnml>&a;</pnml>";
    assert!(unfolded(outside).is_err_and(|e| e.starts_with("N0101")));
    // Depth.
    let deep = |n: usize| "<page id=\"g\">".repeat(n) + &"</page>".repeat(n);
    assert!(unfolded(&net_of("ptnet", &deep(300))).is_ok());
    assert!(unfolded(&net_of("ptnet", &deep(200_000))).is_err_and(|e| e.starts_with("N0102")));
    // Size: a product of ten classes of a hundred colours, and a transition with as many variables.
    let colours: String =
        (0..100).map(|i| format!("<feconstant id=\"k{i}\" name=\"k{i}\"/>")).collect::<Vec<_>>().concat();
    let class = format!(
        "<namedsort id=\"S\" name=\"S\"><finiteenumeration>{colours}</finiteenumeration></namedsort>"
    );
    let product = format!(
        "{class}<namedsort id=\"P\" name=\"P\"><productsort>{}</productsort></namedsort>",
        "<usersort declaration=\"S\"/>".repeat(10)
    );
    let place = "<place id=\"p\"><type><structure><usersort declaration=\"P\"/></structure></type></place>";
    assert!(unfolded(&declared(&product, place)).is_err_and(|e| e.starts_with("N0901")));
    let variables: String = (0..10)
        .map(|i| {
            format!("<variabledecl id=\"x{i}\" name=\"x{i}\"><usersort declaration=\"S\"/></variabledecl>")
        })
        .collect();
    let arcs: String = (0..10)
        .map(|i| {
            format!(
                "<arc id=\"a{i}\" source=\"p\" target=\"t\"><hlinscription><structure><variable refvariable=\"x{i}\"/>\
                 </structure></hlinscription></arc>"
            )
        })
        .collect();
    let wide = declared(&format!("{class}{variables}"), &format!("{PLACE}{arcs}"));
    assert!(unfolded(&wide).is_err_and(|e| e.starts_with("N0901")));
    // Numbers whose product is no word.
    let n = "<numberof><subterm><numberconstant value=\"4000000000\"><positive/></numberconstant></subterm><subterm>";
    let huge = format!(
        "{}<all><usersort declaration=\"S\"/></all>{}",
        n.repeat(5),
        "</subterm></numberof>".repeat(5)
    );
    assert!(unfolded(&with_arc(&huge)).is_err_and(|e| e.starts_with("N0901")));
}

#[test]
fn mutated_documents_are_read_or_refused() {
    let mut r = Source(7);
    for seed in 0..400 {
        let text = Net::any(&mut Source(seed)).coloured();
        let mut bytes = text.into_bytes();
        for _ in 0..1 + r.below(4) {
            let at = r.below(bytes.len());
            match r.below(3) {
                0 => drop(bytes.remove(at)),
                1 => bytes[at] = b"<>/\"=0a"[r.below(7)],
                _ => {
                    let (from, n) = (r.below(bytes.len()), r.below(40));
                    let piece = bytes[from..(from + n).min(bytes.len())].to_vec();
                    bytes.splice(at..at, piece);
                }
            }
        }
        // Anything but a panic.
        let _ = unfolded(&String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn conditions_are_read_as_they_are_written() {
    let text = net_of(
        "ptnet",
        "<place id=\"p\"><initialMarking><text>2</text></initialMarking></place>\
         <place id=\"q 1\"><initialMarking><text>5</text></initialMarking></place>\
         <transition id=\"t\"/><arc id=\"a\" source=\"p\" target=\"t\"><inscription><text>3</text></inscription></arc>",
    );
    let net = unfolded(&text).unwrap_or_else(|e| panic!("{e}"));
    let mut sources = SourceMap::default();
    let mut value = |text: &str| {
        let file = sources.add("condition", text);
        kanon_pnml::condition::parse(&net, file, text)
            .map(|c| c.holds(&net, &net.marking))
            .map_err(|d| d.code)
    };
    let deep = |n: usize| "(".repeat(n) + "p = 2" + &")".repeat(n);
    let cases = [
        ("p = 2", Ok(true)),
        ("p + `q 1` = 7 and p < `q 1`", Ok(true)),
        ("2 * p - `q 1` >= 0", Ok(false)),
        ("-p <= -2", Ok(true)),
        ("not (p > 2) or false", Ok(true)),
        ("p > 2 => `q 1` = 0", Ok(true)),
        ("p != 2 || p == 3", Ok(false)),
        ("enabled(t)", Ok(false)),
        ("!enabled(t) && true", Ok(true)),
        ("p", Err("N0403")),
        ("r = 1", Err("N0401")),
        ("enabled(u)", Err("N0401")),
        ("p = 99999999999999999999", Err("N0402")),
        ("p = 1 )", Err("N0403")),
        ("p ; 1", Err("N0402")),
        ("`q", Err("N0402")),
        ("", Err("N0403")),
    ];
    for (text, wanted) in cases {
        assert_eq!(value(text), wanted, "{text}");
    }
    assert_eq!(value(&deep(150)), Ok(true));
    assert_eq!(value(&deep(100_000)), Err("N0404"));
}
