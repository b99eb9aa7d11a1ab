//! `deny.toml` without cargo-deny and without a network: licences, sources, checksums and versions of every
//! package that is built on this platform, tests and build scripts included. Advisories are not looked at:
//! their database has to be fetched.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
}

/// The strings of a list of `deny.toml`: as much of TOML as that file uses.
fn list(text: &str, section: &str, key: &str) -> Vec<String> {
    let mut lines = text.lines().map(|l| l.split('#').next().unwrap_or_default().trim());
    assert!(lines.any(|l| l == format!("[{section}]")), "deny.toml has no [{section}]");
    let start = format!("{key} = [");
    let body: Vec<&str> = lines
        .take_while(|l| !(l.starts_with('[') && l.ends_with(']')))
        .skip_while(|l| !l.starts_with(&start))
        .collect();
    assert!(!body.is_empty(), "deny.toml has no {key} in [{section}]");
    let text = body.join(" ");
    let inside = text[start.len()..].split(']').next().unwrap_or_default();
    inside.split(',').map(|w| w.trim().trim_matches('"').to_string()).filter(|w| !w.is_empty()).collect()
}

/// Whether an SPDX expression can be fulfilled with these licences. `/` is how `OR` was written once; a licence
/// with an exception is another licence.
fn allows(expression: &str, allowed: &BTreeSet<String>) -> Result<bool, String> {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    let answer = either(&mut words, allowed)?;
    match words.next() {
        None => Ok(answer),
        Some(word) => Err(format!("`{word}` is too much")),
    }
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn either(words: &mut Words, allowed: &BTreeSet<String>) -> Result<bool, String> {
    let mut answer = both(words, allowed)?;
    while words.next_if_eq(&"OR").is_some() {
        answer |= both(words, allowed)?;
    }
    Ok(answer)
}

fn both(words: &mut Words, allowed: &BTreeSet<String>) -> Result<bool, String> {
    let mut answer = single(words, allowed)?;
    while words.next_if_eq(&"AND").is_some() {
        answer &= single(words, allowed)?;
    }
    Ok(answer)
}

fn single(words: &mut Words, allowed: &BTreeSet<String>) -> Result<bool, String> {
    match words.next() {
        None | Some("OR" | "AND" | "WITH" | ")") => Err("a licence is missing".to_string()),
        Some("(") => {
            let answer = either(words, allowed)?;
            words.next_if_eq(&")").map(|_| answer).ok_or_else(|| "`)` is missing".to_string())
        }
        Some(name) => match words.next_if_eq(&"WITH") {
            None => Ok(allowed.contains(name)),
            Some(_) => {
                let exception = words.next().ok_or("an exception is missing")?;
                Ok(allowed.contains(&format!("{name} WITH {exception}")))
            }
        },
    }
}

fn output(program: &str, args: &[&str]) -> String {
    let out = Command::new(program).args(args).current_dir(root()).output().expect("the program starts");
    assert!(out.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("UTF-8")
}

/// All packages that are built here, ours included. Those of other platforms may never have been downloaded.
fn packages() -> Vec<Value> {
    let version = output("rustc", &["-vV"]);
    let host = version.lines().find_map(|l| l.strip_prefix("host: ")).expect("rustc names its host");
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
    let args = ["metadata", "--offline", "--locked", "--format-version", "1", "--filter-platform", host];
    let metadata: Value = serde_json::from_str(&output(&cargo, &args)).expect("JSON");
    metadata["packages"].as_array().expect("a list of packages").clone()
}

fn text<'a>(package: &'a Value, key: &str) -> &'a str {
    package[key].as_str().unwrap_or_default()
}

#[test]
fn licences_and_sources_are_those_of_deny_toml() {
    let deny = read("deny.toml");
    let allowed: BTreeSet<String> = list(&deny, "licenses", "allow").into_iter().collect();
    let registries = list(&deny, "sources", "allow-registry");
    let packages = packages();
    assert!(packages.len() > 50, "only {} packages", packages.len());
    let mut wrong = Vec::new();
    let mut used = BTreeSet::new();
    for package in &packages {
        let name = format!("{} {}", text(package, "name"), text(package, "version"));
        let licence = text(package, "license");
        match allows(licence, &allowed) {
            Ok(true) => used.extend(allowed.iter().filter(|l| licence.contains(l.as_str()))),
            Ok(false) => wrong.push(format!("{name}: {licence:?} is not allowed")),
            Err(why) => wrong.push(format!("{name}: {licence:?}: {why}")),
        }
        let source = text(package, "source").strip_prefix("registry+");
        let is_ours = package["source"].is_null();
        if !is_ours && !source.is_some_and(|s| registries.iter().any(|r| r == s)) {
            wrong.push(format!("{name} comes from {}", package["source"]));
        }
    }
    wrong.extend(allowed.iter().filter(|l| !used.contains(l)).map(|l| format!("nothing needs {l} any more")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn two_versions_of_a_package_are_listed() {
    let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in packages() {
        versions.entry(text(&package, "name").into()).or_default().push(text(&package, "version").into());
    }
    let skipped = list(&read("deny.toml"), "bans", "skip");
    let mut unused: BTreeSet<&String> = skipped.iter().collect();
    let mut wrong = Vec::new();
    for (name, mut versions) in versions.into_iter().filter(|(_, v)| v.len() > 1) {
        versions.retain(|version| {
            let covers = |s: &&String| {
                let (skipped, prefix) = s.split_once('@').expect("name@version");
                skipped == name && format!("{version}.").starts_with(&format!("{prefix}."))
            };
            let by = skipped.iter().find(covers);
            by.map(|by| unused.remove(by)).is_none()
        });
        if versions.len() > 1 {
            wrong.push(format!("{name}: {}", versions.join(", ")));
        }
    }
    wrong.extend(unused.into_iter().map(|s| format!("{s} need not be skipped any more")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn dependencies_are_documented() {
    let document = read("docs/dependencies.md");
    let manifest = read("Cargo.toml");
    let mut wrong = Vec::new();
    for section in ["[dependencies]", "[dev-dependencies]"] {
        let (_, rest) = manifest.split_once(&format!("\n{section}\n")).expect("the section");
        let names =
            rest.lines().take_while(|l| !l.starts_with('[')).filter_map(|l| l.split([' ', '.', '=']).next());
        for name in names.filter(|n| !n.is_empty() && !n.starts_with(['#', '"']) && !n.starts_with("kanon-"))
        {
            if !document.contains(&format!("`{name}`")) {
                wrong.push(format!("docs/dependencies.md does not say what {name} is for"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn everything_from_a_registry_has_a_checksum() {
    for file in ["Cargo.lock", "fuzz/Cargo.lock"] {
        let lock = read(file);
        let packages: Vec<&str> = lock.split("[[package]]").skip(1).collect();
        assert!(!packages.is_empty(), "{file} lists no packages");
        for package in packages {
            let is_foreign = package.contains("\nsource = ");
            assert_eq!(is_foreign, package.contains("\nchecksum = \""), "{file}: {package}");
        }
    }
}

#[test]
fn expressions() {
    let allowed = ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"].map(String::from).into();
    let table = [
        ("MIT", Some(true)),
        ("GPL-3.0", Some(false)),
        ("MIT OR GPL-3.0", Some(true)),
        ("GPL-3.0/MIT", Some(true)),
        ("MIT AND GPL-3.0", Some(false)),
        ("(MIT OR GPL-3.0) AND Zlib", Some(true)),
        ("GPL-3.0 AND MIT OR Zlib", Some(true)),
        ("GPL-3.0 AND (MIT OR Zlib)", Some(false)),
        ("Apache-2.0 WITH LLVM-exception", Some(true)),
        ("Apache-2.0", Some(false)),
        ("MIT WITH LLVM-exception", Some(false)),
        ("", None),
        ("MIT Zlib", None),
        ("(MIT", None),
        ("MIT OR", None),
    ];
    for (expression, expected) in table {
        assert_eq!(allows(expression, &allowed).ok(), expected, "{expression}");
    }
}
