//! Datatypes of theories and operators on them. Expected values follow from the definitions; ProB was not asked here.

use super::eventb::{EVENT, Event, INIT, context, counts, machine, package, term};

/// Lists, numbers, trees with sets in them, and operators by cases.
pub(super) fn theory() -> String {
    let list = "extended_expr(~'List',[$T],[])";
    let text = format!(
        "theory(theory_name(p,t),[],['T'],\
         [datatype('List',[$T],[constructor(nil,[]),constructor(cons,[destructor(head,$T),destructor(tail,{list})])]),\
         datatype(nat,[],[constructor(zero,[]),constructor(succ,[destructor(prec,extended_expr(~nat,[],[]))])]),\
         datatype('Opt',[$T],[constructor(none,[]),constructor(some,[destructor(the,$T)])]),\
         datatype('Box',[$T],[constructor(empty,[]),constructor(box,[destructor(inside,pow_subset(~$T)),\
         destructor(lists,{list})])])],\
         [operator(size,[argument(l,{list})],truth(none),[],\
         [case(l,[],extended_expr(~nil,[],[]),#0),\
         case(l,[h,r],extended_expr(~cons,[$h,$r],[]),add(~#1,extended_expr(~size,[$r],[])))]),\
         operator(append,[argument(l,{list}),argument(x,$T)],truth(none),[],\
         [case(l,[h,r],extended_expr(~cons,[$h,$r],[]),extended_expr(~cons,[$h,extended_expr(~append,[$r,$x],[])],[])),\
         case(l,[],extended_expr(~nil,[],[]),extended_expr(~cons,[$x,extended_expr(~nil,[],[])],[]))]),\
         operator(has,[argument(x,$T),argument(l,{list})],truth(none),[],\
         [case(l,[],extended_expr(~nil,[],[]),falsity(none)),\
         case(l,[h,r],extended_expr(~cons,[$h,$r],[]),disjunct(~equal(~$h,$x),extended_pred(~has,[$x,$r],[])))]),\
         operator(getor,[argument(o,extended_expr(~'Opt',[$T],[])),argument(d,$T)],truth(none),[],\
         [case(o,[],extended_expr(~none,[],[]),$d),case(o,[v],extended_expr(~some,[$v],[]),$v)]),\
         operator(half,[argument(o,extended_expr(~'Opt',[$T],[]))],truth(none),[],\
         [case(o,[],extended_expr(~none,[],[]),#0)]),\
         operator(number,[argument(n,extended_expr(~nat,[],[]))],truth(none),[],\
         [case(n,[],extended_expr(~zero,[],[]),#0),\
         case(n,[m],extended_expr(~succ,[$m],[]),add(~#1,extended_expr(~number,[$m],[])))])],\
         [axiomatic_def_block(d,[],[opdef(mknat,[argument(x,integer_set(none))],[])],[])],[tag(mknat,mkinat)])"
    );
    term(&text)
}

/// A shorter notation: `cons(a,b)` for the extended expression.
pub(super) fn formula(short: &str) -> String {
    let mut out = short.to_string();
    for op in [
        "cons", "nil", "head", "tail", "succ", "zero", "prec", "some", "the", "box", "inside", "size",
        "append", "getor", "half", "number", "mknat", "none", "empty", "List", "Opt", "Box", "nat",
    ] {
        out = replaced(&out, op);
    }
    out
}

/// `op<a,b>` becomes `extended_expr(none,op,[a,b],[])`; the arguments are in angle brackets.
fn replaced(text: &str, op: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(&format!("{op}<")) {
        let is_word = rest[..at].ends_with(|c: char| c.is_alphanumeric());
        let (before, after) = rest.split_at(at + op.len());
        if is_word {
            out.push_str(before);
            rest = after;
            continue;
        }
        let mut depth = 0;
        let end = after.char_indices().find_map(|(i, c)| {
            depth += i32::from(c == '<') - i32::from(c == '>');
            (depth == 0).then_some(i)
        });
        let end = end.expect("as many closing as opening brackets");
        out.push_str(&before[..at]);
        out.push_str(&format!("extended_expr(~'{op}',[{}],[])", replaced(&after[1..end], op)));
        rest = &after[end + 1..];
    }
    out.push_str(rest);
    out
}

#[test]
fn datatypes_in_formulas() {
    let two = "cons<#1,cons<#2,nil<>>>";
    let ints = "integer_set(none)";
    let table = [
        (format!("equal(~head<{two}>,#1)"), true),
        (format!("equal(~head<tail<{two}>>,#2)"), true),
        (format!("equal(~tail<tail<{two}>>,nil<>)"), true),
        (format!("equal(~{two},cons<#2,nil<>>)"), false),
        // Two types of one datatype and one operator.
        (format!("conjunct(~equal(~size<{two}>,#2),equal(~size<cons<boolean_true(none),nil<>>>,#1))"), true),
        (format!("equal(~append<{two},#3>,cons<#1,cons<#2,cons<#3,nil<>>>>)"), true),
        (format!("equal(~size<append<append<{two},#7>,#8>>,#4)"), true),
        (format!("extended_pred(~has,[#2,{two}],[])"), true),
        (format!("extended_pred(~has,[#3,{two}],[])"), false),
        (format!("member(~{two},List<{ints}>)"), true),
        (format!("member(~{two},List<interval(~#1,#2)>)"), true),
        (format!("member(~{two},List<interval(~#2,#3)>)"), false),
        ("member(~nil<>,List<set_extension(~[#4])>)".into(), true),
        ("equal(~getor<some<#4>,#5>,#4)".into(), true),
        ("equal(~getor<none<>,#5>,#5)".into(), true),
        ("member(~some<#3>,Opt<natural_set(none)>)".into(), true),
        ("member(~some<#-3>,Opt<natural_set(none)>)".into(), false),
        ("equal(~card(~Opt<set_extension(~[#1,#2])>),#3)".into(), true),
        ("equal(~card(~Opt<bool_set(none)>),#3)".into(), true),
        ("equal(~card(~Opt<Opt<bool_set(none)>>),#4)".into(), true),
        ("finite(~nat<>)".into(), false),
        ("finite(~Opt<bool_set(none)>)".into(), true),
        (format!("finite(~Opt<{ints}>)"), false),
        ("equal(~number<succ<succ<zero<>>>>,#2)".into(), true),
        ("equal(~mknat<#3>,succ<succ<succ<zero<>>>>)".into(), true),
        ("equal(~number<mknat<#5>>,#5)".into(), true),
        (format!("equal(~inside<box<set_extension(~[#1]),{two}>>,set_extension(~[#1]))"), true),
        ("member(~box<set_extension(~[#1]),nil<>>,Box<integer_set(none)>)".into(), true),
        (
            format!(
                "equal(~event_b_comprehension_set(~[$x],$x,member(~cons<$x,nil<>>,set_extension(~[{two},cons<#5,nil<>>]))),\
                 set_extension(~[#5]))"
            ),
            true,
        ),
    ];
    for (axiom, holds) in table {
        let axiom = formula(&axiom);
        let text = package(&[], &[context("", "", &axiom)], &theory());
        assert_eq!(counts(&text).map(|c| c.0), Ok(usize::from(holds)), "{axiom}");
    }
}

#[test]
fn what_has_no_value_or_no_meaning() {
    for (axiom, message) in [
        ("equal(~head<nil<>>,#1)", "OutsideDomain"),
        ("equal(~the<none<>>,#1)", "OutsideDomain"),
        ("equal(~half<none<>>,#0)", "`half` (a definition that has not one case for each constructor)"),
        ("equal(~cons<#1>,nil<>)", "`cons` takes 2 arguments and has 1 here"),
        ("equal(~cons<#1,cons<boolean_true(none),nil<>>>,nil<>)", "type mismatch"),
        ("equal(~nil<>,none<>)", "type mismatch"),
        ("member(~box<set_extension(~[#1]),nil<>>,Box<set_extension(~[#1])>)", "inside of another"),
        ("forall(~[$s],member(~cons<#1,nil<>>,List<$s>))", "`List` of sets that are not whole types"),
    ] {
        let found = counts(&package(&[], &[context("", "", &formula(axiom))], &theory()));
        assert!(found.as_ref().is_err_and(|e| e.contains(message)), "{axiom}: {found:?}");
    }
    for (declaration, message) in [
        ("datatype(d,[],[constructor(c,[destructor(p,extended_expr(~d,[],[]))])])", "has no values"),
        (
            "datatype(d,[],[constructor(z,[]),constructor(c,[destructor(p,pow_subset(~extended_expr(~d,[],[])))])])",
            "a datatype inside of itself at this place",
        ),
        (
            "datatype(d,[$T],[constructor(z,[]),\
             constructor(c,[destructor(p,extended_expr(~d,[pow_subset(~$T)],[]))])])",
            "a datatype inside of itself with other parameters",
        ),
    ] {
        let theory = term(&format!("theory(theory_name(p,t),[],['T'],[{declaration}],[],[],[])"));
        let make = if declaration.contains("constructor(z") { "z" } else { "c" };
        let argument = if make == "c" { "extended_expr(~c,[$x],[])" } else { "extended_expr(~z,[],[])" };
        let axiom = format!("exists(~[$x],equal(~{argument},$x))");
        let found = counts(&package(&[], &[context("", "", &axiom)], &theory));
        assert!(found.as_ref().is_err_and(|e| e.contains(message)), "{declaration}: {found:?}");
    }
}

/// Values of a datatype in states, with symmetric elements in them.
#[test]
fn lists_in_states() {
    let init = Event { actions: &formula("assign(~[$l],[nil<>])"), ..INIT };
    let push = Event {
        name: "push",
        params: "$x",
        guards: &formula("member(~$x,$S),less(~size<$l>,#2)"),
        actions: &formula("assign(~[$l],[cons<$x,$l>])"),
        ..EVENT
    };
    let drop = Event {
        name: "drop",
        guards: &formula("not_equal(~$l,nil<>)"),
        actions: &formula("assign(~[$l],[tail<$l>])"),
        ..EVENT
    };
    let invariants = formula("member(~$l,List<$S>),less(~size<$l>,#3)");
    let m =
        machine("M", "", "$l", &invariants, &[init, push, drop]).replace("sees(none,[])", "sees(none,['C'])");
    let text = package(&[m], &[context("S", "", "equal(~card(~$S),#2)")], &theory());
    // Lists of at most two of two elements; each has room for more or something to drop.
    assert_eq!(counts(&text), Ok((1, 7, 12, false)));
}
