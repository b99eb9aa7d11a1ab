//! Archives, friendly and hostile.

use super::forms::Memory;
use kanon_language::lang::eventb::rodin::archive;

const MACHINE: &str = "<org.eventb.core.machineFile><org.eventb.core.event name=\"_i\" \
     org.eventb.core.label=\"INITIALISATION\"/></org.eventb.core.machineFile>";

fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let files: Vec<(String, String)> = files.iter().map(|(n, t)| (n.to_string(), t.to_string())).collect();
    archive::write(&files).expect("an archive")
}

fn open(bytes: &[u8], part: &str) -> Result<String, String> {
    let project = Memory::default().with("a.zip", bytes).open(&format!("a.zip{part}"))?;
    Ok(project.machines.first().map_or(String::new(), |m| m.name.name.to_string()))
}

#[test]
fn projects_in_archives() {
    let one = zip(&[("p/M.bum", MACHINE), ("p/notes.txt", "x")]);
    assert_eq!(open(&one, ""), Ok("M".to_string()));
    assert_eq!(open(&one, "#M"), Ok("M".to_string()));
    let top = zip(&[("M.bum", MACHINE)]);
    assert_eq!(open(&top, ""), Ok("M".to_string()));
    let two = zip(&[("p/M.bum", MACHINE), ("q/M.bum", MACHINE)]);
    let e = open(&two, "").expect_err("two projects");
    assert!(e.contains("`p/M`, `q/M`"), "{e}");
    assert_eq!(open(&two, "#q/M"), Ok("M".to_string()));
    // The same bytes for the same files.
    assert_eq!(one, zip(&[("p/M.bum", MACHINE), ("p/notes.txt", "x")]));
}

#[test]
fn hostile_archives_are_refused() {
    for (bytes, words) in [
        (b"no archive".to_vec(), "this is no zip archive"),
        (vec![], "this is no zip archive"),
        (zip(&[("../M.bum", MACHINE)]), "points out of it"),
        (zip(&[("p/../../M.bum", MACHINE)]), "points out of it"),
        (zip(&[("/M.bum", MACHINE)]), "points out of it"),
        (zip(&[("p\\..\\..\\M.bum", MACHINE)]), "points out of it"),
        (zip(&[("p/readme.md", "x")]), "there is neither a machine nor a context here"),
        (zip(&[]), "there is neither a machine nor a context here"),
        (
            zip(&[("p/M.bum", "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY a \"aaaa\">]><x>&a;</x>")]),
            "damaged XML",
        ),
        (zip(&[("p/M.bum", "\u{0}\u{1}")]), "damaged XML"),
    ] {
        let e = open(&bytes, "").expect_err(words);
        assert!(e.contains(words), "{words}: {e}");
    }
    // Cut off anywhere, or with one byte changed: an error or a project, never a panic.
    let good = zip(&[("p/M.bum", MACHINE), ("p/C.buc", "<org.eventb.core.contextFile/>")]);
    for i in 0..good.len() {
        let _ = open(&good[..i], "");
        let mut changed = good.clone();
        changed[i] ^= 0x41;
        let _ = open(&changed, "");
    }
}

#[test]
fn bombs_are_refused() {
    // 257 MiB of spaces are a few hundred kilobytes when they are packed.
    let large = " ".repeat(257 << 20);
    let bomb = zip(&[("p/M.bum", &large)]);
    assert!(bomb.len() < 2 << 20, "{}", bomb.len());
    let e = open(&bomb, "").expect_err("a bomb");
    assert!(e.contains("larger than 256 MiB"), "{e}");
    let names: Vec<String> = (0..20_001).map(|i| format!("p/{i}.txt")).collect();
    let many: Vec<(&str, &str)> = names.iter().map(|n| (n.as_str(), "")).collect();
    let e = open(&zip(&many), "").expect_err("too many");
    assert!(e.contains("20001 files"), "{e}");
}

#[test]
fn what_grows_when_it_is_read_is_refused() {
    // Elements in elements in elements.
    let deep = format!("{}{}", "<a>".repeat(200_000), "</a>".repeat(200_000));
    let e = open(&zip(&[("p/M.bum", &deep)]), "").expect_err("deep");
    assert!(e.contains("M.bum"), "{e}");
    // Each machine has all guards of all machines before it.
    let core = "org.eventb.core.";
    let guard = "x = 1 ∧ ".repeat(500) + "x = 1";
    let machine = |i: usize| {
        let refines = format!("<{core}refinesMachine name=\"_r\" {core}target=\"M{}\"/>", i.wrapping_sub(1));
        format!(
            "<{core}machineFile>{}<{core}event name=\"_e\" {core}label=\"e\" {core}extended=\"{}\">\
             <{core}refinesEvent name=\"_f\" {core}target=\"e\"/>\
             <{core}guard name=\"_g\" {core}label=\"g{i}\" {core}predicate=\"{guard}\"/></{core}event></{core}machineFile>",
            if i == 0 { "" } else { &refines },
            i > 0
        )
    };
    let files: Vec<(String, String)> = (0..300).map(|i| (format!("p/M{i}.bum"), machine(i))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
    let e = open(&zip(&files), "").expect_err("large");
    assert!(e.contains("stand for too much"), "{e}");
}
