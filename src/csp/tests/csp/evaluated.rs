//! The evaluator: the suite of FDR's front end, where it is at hand, and scripts of our own.

use crate::libcspm::suite;
use kanon_csp::compile::compile;
use kanon_csp::eval::Machine;
use kanon_csp::parse::parse;
use kanon_csp::value::Value;
use kanon_language::lang::diag::SourceMap;
use kanon_language::lang::stack::with_large_stack;
use std::path::Path;

/// Evaluates all definitions whose names begin with `test`, which are to be true, and `procTest`, which are processes.
/// Says what is wrong first.
fn judged(path: &Path) -> Result<usize, String> {
    let mut sources = SourceMap::default();
    let file = sources.read(path).expect("the file is there");
    let script = parse(&mut sources, file);
    let program = compile(&script.decls).map_err(|d| d.message.clone())?;
    let mut machine = Machine::new(program);
    let names = machine.program().names.clone();
    let mut count = 0;
    for (name, member) in names {
        if !name.text.starts_with("procTest") && !name.text.starts_with("test") {
            continue;
        }
        count += 1;
        match machine.global(member) {
            Ok(Value::Bool(true) | Value::Process(_) | Value::Function(_)) => {}
            Ok(other) => return Err(format!("{} is {}", name.text, machine.show(&other))),
            Err(fault) => {
                return Err(format!("{}: {}: {}", name.text, sources.place(fault.span), fault.message));
            }
        }
    }
    Ok(count)
}

/// How many scripts of a folder are judged as they should be, and what is wrong with the others.
fn right(folder: &str, accepted: bool) -> Option<(usize, Vec<String>)> {
    let files = suite(&format!("evaluator/{folder}"))?;
    let (mut good, mut bad) = (0, vec![]);
    for path in &files {
        let found = with_large_stack(|| judged(path)).expect("a thread");
        if found.is_ok() == accepted {
            good += 1;
        } else {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            bad.push(format!("{name}: {found:?}"));
        }
    }
    Some((good, bad))
}

#[test]
fn the_suite_is_evaluated() {
    let (Some(pass), Some(fail)) = (right("should_pass", true), right("should_fail", false)) else {
        println!("skipped: the suite of libcspm is not at hand");
        return;
    };
    println!("should_pass: {}, {:#?}", pass.0, pass.1);
    println!("should_fail: {}, {:#?}", fail.0, fail.1);
    assert!(pass.1.is_empty() && fail.1.is_empty());
    assert_eq!((pass.0, fail.0), (87, 25));
}

/// What a script's definition `x` is worth, or why it is worth nothing.
fn worth(text: &str) -> String {
    let mut sources = SourceMap::default();
    let file = sources.add("s.csp", text);
    let types = crate::typed(&mut sources, file);
    assert!(types.diagnostics.is_empty(), "{text}: {:?}", types.diagnostics);
    let run = || {
        let script = parse(&mut sources, file);
        let program = compile(&script.decls).expect("what has types is compiled");
        let mut machine = Machine::new(program);
        let names = machine.program().names.clone();
        let (_, member) = names.into_iter().find(|(n, _)| &*n.text == "x").expect("there is an x");
        match machine.global(member) {
            Ok(v) => machine.show(&v),
            Err(fault) if fault.is_limit => format!("limit: {}", fault.message),
            Err(fault) => format!("error: {}", fault.message),
        }
    };
    with_large_stack(run).expect("a thread")
}

#[test]
fn definitions_have_values() {
    let table = [
        ("x = (-7) / 2", "-4"),
        ("x = (-7) % 2", "1"),
        ("x = 7 / 0", "error: division by zero"),
        ("x = 9223372036854775807 + 1", "limit: this number is too large: integers have 64 bits"),
        ("x = <y | y <- <1..5>, y % 2 == 1> ^ <9>", "<1, 3, 5, 9>"),
        ("x = head(tail(<y * y | y <- <3..>>))", "16"),
        ("x = #<1..>", "limit: this sequence has no end, or is too long"),
        ("x = card({1..})", "limit: a finite set is needed here, and this is one with `{1..}`"),
        (
            "x = (inter({1..}, {3, 0}), diff({1..}, {2}), union({5..}, {4, 1}))",
            "({3}, union({1}, {3..}), union({1}, {4..}))",
        ),
        ("x = {(a, b) | a <- {1, 2}, b <- {1, 2}, a < b}", "{(1, 2)}"),
        ("f(n) = if n == 0 then 0 else 1 + f(n - 1)\nx = f(1000)", "1000"),
        ("f(n) = 1 + f(n)\nx = f(0)", "limit: calls nest too deeply here: perhaps a recursion has no end"),
        ("x = let f(n) = if n > 3 then n else f(n + k)\n k = 2 within f(0)", "4"),
        ("add(a)(b) = a + b\nx = add(1)(2)", "3"),
        ("const(a, b) = a\nx = const(1, head(<>))", "1"),
        ("x = head(<>)", "error: the empty sequence has no head"),
        ("f(0) = 1\nx = f(2)", "error: no clause of `f` matches (2)"),
        ("x = y + 1\ny = x", "error: this definition needs its own value"),
        ("datatype T = A | B.{0..1}\nx = T", "T"),
        ("datatype T = A | B.{0..1}\nx = {t | t <- T}", "{A, B.0, B.1}"),
        ("datatype T = A | B.{0..1}\nx = B.2", "error: `2` is no value of field 1 of `B`"),
        ("datatype T = L | N.T.T\nf(L) = 1\nf(N.a.b) = f(a) + f(b)\nx = f(N.(N.L.L).L)", "3"),
        ("datatype T = L | N.T.T\nx = card(T)", "limit: `T` is infinite"),
        ("channel c : {0..1}.Bool\nx = {| c.1 |}", "{c.1.false, c.1.true}"),
        ("channel c : {0..1}.Bool\nf(c.n.b) = (b, n)\nx = f(c.1.true)", "(true, 1)"),
        ("x = mapToList(mapUpdate((| 1 => true |), 0, false))", "<(0, false), (1, true)>"),
        ("x = (\\ a, b @ a - b)(1, 2)", "-1"),
        (
            "module M(n)\nexports\ny = n + 1\nendmodule\ninstance I = M(1)\ninstance J = M(5)\nx = (I::y, J::y)",
            "(2, 6)",
        ),
        ("channel c : {0..2}\nx = c?y : {0, 2} -> STOP", "{c.0, c.2} -> …"),
        ("channel c : {0..2}\nx = c$y : {} -> STOP", "error: `$` has nothing to choose from"),
        ("channel a\nx = STOP [a <-> a, a <-> a] SKIP", "… [… <-> …] …"),
        ("x = \"text\"", "\"text\""),
        ("x = {{1..3}, {1, 2, 3}, {}}", "{{}, {1, 2, 3}}"),
        ("x = {1} < {1, 2} and not <1> < <2>", "true"),
    ];
    let wrong: Vec<String> = table
        .iter()
        .filter(|(text, expected)| worth(text) != *expected)
        .map(|(text, expected)| format!("{text}\n  is {}\n  not {expected}", worth(text)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
