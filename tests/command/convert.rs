//! `kanon convert`, and checking what it wrote: all forms of a model give one answer.

use crate::program::{FAILS, HOLDS, WRONG, json, kanon};
use std::fs;
use std::path::PathBuf;

/// A folder of its own, empty.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("convert").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn counts(path: &str) -> (u64, u64) {
    let answer = json(&["check", "--json", "--symmetry", "off", path], HOLDS);
    let of = |key: &str| answer[key].as_u64().or(answer["counts"][key].as_u64()).expect(key);
    (of("states"), of("transitions"))
}

#[test]
fn every_form_of_a_model_has_the_same_states() {
    let folder = folder("forms");
    let at = |name: &str| folder.join(name).display().to_string();
    for model in ["Lift", "Retransmission", "TrafficLights", "Turns"] {
        let source = format!("models/eventb/{model}.eventb");
        let expected = counts(&source);
        for (form, out) in [
            ("rodin", format!("{model}.zip")),
            ("rodin", format!("{model}-rodin")),
            ("text", format!("{model}-text.eventb")),
            ("text", format!("{model}-text")),
            ("package", format!("{model}-package.eventb")),
        ] {
            let ran = kanon(&["convert", &source, "--to", form, "-o", &at(&out)]);
            assert_eq!(ran.code, HOLDS, "{model} as {form}: {}", ran.err);
            assert_eq!(counts(&at(&out)), expected, "{model} as {out}");
        }
    }
    // One file of a Rodin project, and one machine of several.
    assert_eq!(counts(&at("Lift-rodin/LiftWithDirection.bum")), counts("models/eventb/Lift.eventb"));
    assert_eq!(counts(&at("Lift-rodin/Lift.bum")), counts(&format!("{}#Lift", at("Lift.zip"))));
    assert_eq!(counts(&at("Lift-text/Lift.mchx")), counts("models/eventb/Lift.eventb#Lift"));
}

#[test]
fn what_cannot_be_converted_is_said() {
    let folder = folder("wrong");
    let at = |name: &str| folder.join(name).display().to_string();
    let lift = "models/eventb/Lift.eventb";
    fs::create_dir(folder.join("full")).and_then(|()| fs::write(folder.join("full/x"), "")).expect("a file");
    for (args, words) in [
        (vec!["models/demo/Library.mch", "--to", "text", "-o", &at("a.eventb")], "is no Event-B project"),
        (vec!["models/demo", "--to", "text", "-o", &at("a.eventb")], "is a folder without machines"),
        (vec!["models/eventb/Nothing.eventb", "--to", "text", "-o", &at("a.eventb")], "cannot read"),
        (vec![lift, "--to", "package", "-o", &at("a")], "a package is one file"),
        (vec![lift, "--to", "rodin", "-o", &at("full")], "the folder is not empty"),
        (vec![lift, "--to", "latex", "-o", &at("a")], "expected rodin, text or package"),
        (vec!["models/eventb/Lift.eventb#Stairs", "--to", "rodin", "-o", &at("a")], "`Stairs`"),
    ] {
        let ran = kanon(&[&["convert"], &args[..]].concat());
        assert_eq!(ran.code, WRONG, "{args:?}: {}", ran.out);
        assert!(ran.err.contains(words), "{args:?}: {}", ran.err);
    }
}

#[test]
fn findings_are_shown_where_they_stand() {
    let folder = folder("findings");
    let at = |name: &str| folder.join(name).display().to_string();
    let text = "machine M\nvariables x\ninvariants\n  @inv1 x ∈ 0‥3\n  @small: x < 3\nevents\n  \
                event INITIALISATION then @act1 x ≔ 0 end\n  \
                event inc where @grd1 x < 5 then @act1 x ≔ x + 1 end\nend\n";
    fs::write(folder.join("M.eventb"), text).expect("a text");
    let ran = kanon(&["check", &at("M.eventb")]);
    assert_eq!(ran.code, FAILS, "{}", ran.err);
    assert!(ran.out.contains("the invariant is violated: small"), "{}", ran.out);
    assert!(ran.out.contains("M.eventb:5:11"), "{}", ran.out);
    // Rodin's files are XML: the place is in a listing.
    let ran = kanon(&["convert", &at("M.eventb"), "--to", "rodin", "-o", &at("M.zip")]);
    assert_eq!(ran.code, HOLDS, "{}", ran.err);
    let ran = kanon(&["check", &at("M.zip")]);
    assert_eq!(ran.code, FAILS, "{}", ran.err);
    assert!(
        ran.out.contains("the invariant is violated: small") && ran.out.contains("M.zip#M:"),
        "{}",
        ran.out
    );
}

/// The Rodin project of the paper's chain is the packages beside it.
#[test]
fn the_chain_is_the_same_in_rodin() {
    let (folder, chain) = (folder("chain"), PathBuf::from("models/eventb/chain"));
    for package in ["mc2", "rmc2"] {
        let out = folder.join(package).display().to_string();
        let source = chain.join(format!("{package}.eventb")).display().to_string();
        assert_eq!(kanon(&["convert", &source, "--to", "rodin", "-o", &out]).code, HOLDS);
        let mut compared = 0;
        for file in fs::read_dir(&out).expect("a folder").map(|f| f.expect("a file")) {
            let name = file.file_name();
            if name.to_string_lossy().starts_with('.') {
                continue;
            }
            let kept = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(&chain).join("rodin").join(&name);
            let text = |path: PathBuf| fs::read_to_string(path).expect("a text");
            assert_eq!(text(kept), text(file.path()), "{name:?} of {package}");
            compared += 1;
        }
        assert!(compared >= 4, "{compared} files of {package}");
    }
}
