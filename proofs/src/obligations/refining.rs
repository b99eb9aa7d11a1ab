//! What refines wmc: first, lab, path.

use kanon_refinement::glue::{wmc_first, wmc_lab, wmc_path};
use kanon_refinement::logic::{Event, Logic, Machine, enabled};
use kanon_refinement::{first, lab, path, wmc};

use crate::any;
use crate::choose::Choose;
use crate::obligations::obligations;
use crate::schema::{assume_all, decrease, establish, establish_glue, preserve, prove_all, simulate};

obligations! {
    first_ini "first/INI" "ours" "the initialisation establishes the invariant" => |c| {
        let k = any::stored(c);
        establish::<C, first::First<C::L>>(c, &k);
    }
    first_add_inv_inv "first/add_inv/INV" "ours" "preserves the invariant" => |c| {
        let k = any::stored(c);
        let m = any::first(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, true);
        let e = first::AddInv { s1, s2 };
        preserve(c, &k, &m, &e);
    }
    first_add_inv_var "first/add_inv/VAR" "ours" "makes the variant smaller" => |c| {
        let k = any::stored(c);
        let m = any::first(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, true);
        let e = first::AddInv { s1, s2 };
        decrease(c, &k, &m, &e);
    }
    first_add_err_inv "first/add_err/INV" "ours" "preserves the invariant" => |c| {
        let k = any::stored(c);
        let m = any::first(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, false);
        let e = first::AddErr { s1, s2 };
        preserve(c, &k, &m, &e);
    }
    first_add_err_var "first/add_err/VAR" "ours" "makes the variant smaller" => |c| {
        let k = any::stored(c);
        let m = any::first(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, false);
        let e = first::AddErr { s1, s2 };
        decrease(c, &k, &m, &e);
    }
    first_remove_inv "first/remove/INV" "ours" "preserves the invariant" => |c| {
        let k = any::stored(c);
        let m = any::first(c, &k);
        let e = first::Remove { s1: any::one(c, "s1", &m.runex) };
        preserve(c, &k, &m, &e);
    }
    first_remove_var "first/remove/VAR" "ours" "makes the variant smaller" => |c| {
        let k = any::stored(c);
        let m = any::first(c, &k);
        let e = first::Remove { s1: any::one(c, "s1", &m.runex) };
        decrease(c, &k, &m, &e);
    }
    wmc_first_ini "wmc_first/INI" "ours" "the initialisations are related" => |c| {
        let k = any::stored(c);
        establish_glue::<C, wmc_first::WmcFirst>(c, &k);
    }
    wmc_first_add_inv_sim "wmc_first/add_inv/SIM" "ours" "has an abstract step" => |c| {
        let k = any::stored(c);
        let m = any::first(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, true);
        let e = first::AddInv { s1, s2 };
        simulate::<C, wmc_first::WmcFirst, _>(c, &k, &m, &e);
    }
    wmc_first_add_err_sim "wmc_first/add_err/SIM" "ours" "has an abstract step" => |c| {
        let k = any::stored(c);
        let m = any::first(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, false);
        let e = first::AddErr { s1, s2 };
        simulate::<C, wmc_first::WmcFirst, _>(c, &k, &m, &e);
    }
    wmc_first_remove_sim "wmc_first/remove/SIM" "ours" "has an abstract step" => |c| {
        let k = any::stored(c);
        let m = any::first(c, &k);
        let e = first::Remove { s1: any::one(c, "s1", &m.runex) };
        simulate::<C, wmc_first::WmcFirst, _>(c, &k, &m, &e);
    }
    wmc_first_pass_sim "wmc_first/pass/SIM" "ours" "strengthens the guard of pass" => |c| {
        let k = any::stored(c);
        let m = any::first(c, &k);
        simulate::<C, wmc_first::WmcFirst, _>(c, &k, &m, &first::Pass);
    }
    wmc_first_fail_sim "wmc_first/fail/SIM" "ours" "strengthens the guard of fail" => |c| {
        let k = any::stored(c);
        let m = any::first(c, &k);
        simulate::<C, wmc_first::WmcFirst, _>(c, &k, &m, &first::Fail);
    }
    lab_ini "lab/INI" "ours" "the initialisation establishes the invariant" => |c| {
        let k = any::labelled(c);
        establish::<C, lab::Lab<C::L>>(c, &k);
    }
    lab_add_inv_inv "lab/add_inv/INV" "ours" "preserves the invariant" => |c| {
        let k = any::labelled(c);
        let m = any::lab(c, &k);
        let [s1, s2] = any::pair(c, &k.wmc.mc0, &m.runex, true);
        let e = lab::AddInv { s1, s2 };
        preserve(c, &k, &m, &e);
    }
    lab_add_inv_var "lab/add_inv/VAR" "ours" "makes the variant smaller" => |c| {
        let k = any::labelled(c);
        let m = any::lab(c, &k);
        let [s1, s2] = any::pair(c, &k.wmc.mc0, &m.runex, true);
        let e = lab::AddInv { s1, s2 };
        decrease(c, &k, &m, &e);
    }
    lab_add_err_inv "lab/add_err/INV" "ours" "preserves the invariant" => |c| {
        let k = any::labelled(c);
        let m = any::lab(c, &k);
        let [s1, s2] = any::pair(c, &k.wmc.mc0, &m.runex, false);
        let e = lab::AddErr { s1, s2 };
        preserve(c, &k, &m, &e);
    }
    lab_add_err_var "lab/add_err/VAR" "ours" "makes the variant smaller" => |c| {
        let k = any::labelled(c);
        let m = any::lab(c, &k);
        let [s1, s2] = any::pair(c, &k.wmc.mc0, &m.runex, false);
        let e = lab::AddErr { s1, s2 };
        decrease(c, &k, &m, &e);
    }
    lab_remove_inv "lab/remove/INV" "ours" "preserves the invariant" => |c| {
        let k = any::labelled(c);
        let m = any::lab(c, &k);
        let e = lab::Remove { s1: any::one(c, "s1", &m.runex) };
        preserve(c, &k, &m, &e);
    }
    lab_remove_var "lab/remove/VAR" "ours" "makes the variant smaller" => |c| {
        let k = any::labelled(c);
        let m = any::lab(c, &k);
        let e = lab::Remove { s1: any::one(c, "s1", &m.runex) };
        decrease(c, &k, &m, &e);
    }
    wmc_lab_ini "wmc_lab/INI" "ours" "the initialisations are related" => |c| {
        let k = any::labelled(c);
        establish_glue::<C, wmc_lab::WmcLab>(c, &k);
    }
    wmc_lab_add_inv_sim "wmc_lab/add_inv/SIM" "ours" "has an abstract step" => |c| {
        let k = any::labelled(c);
        let m = any::lab(c, &k);
        let [s1, s2] = any::pair(c, &k.wmc.mc0, &m.runex, true);
        let e = lab::AddInv { s1, s2 };
        simulate::<C, wmc_lab::WmcLab, _>(c, &k, &m, &e);
    }
    wmc_lab_add_err_sim "wmc_lab/add_err/SIM" "ours" "has an abstract step" => |c| {
        let k = any::labelled(c);
        let m = any::lab(c, &k);
        let [s1, s2] = any::pair(c, &k.wmc.mc0, &m.runex, false);
        let e = lab::AddErr { s1, s2 };
        simulate::<C, wmc_lab::WmcLab, _>(c, &k, &m, &e);
    }
    wmc_lab_remove_sim "wmc_lab/remove/SIM" "ours" "has an abstract step" => |c| {
        let k = any::labelled(c);
        let m = any::lab(c, &k);
        let e = lab::Remove { s1: any::one(c, "s1", &m.runex) };
        simulate::<C, wmc_lab::WmcLab, _>(c, &k, &m, &e);
    }
    wmc_lab_pass_sim "wmc_lab/pass/SIM" "ours" "strengthens the guard of pass" => |c| {
        let k = any::labelled(c);
        let m = any::lab(c, &k);
        simulate::<C, wmc_lab::WmcLab, _>(c, &k, &m, &lab::Pass);
    }
    wmc_lab_fail_sim "wmc_lab/fail/SIM" "ours" "strengthens the guard of fail" => |c| {
        let k = any::labelled(c);
        let m = any::lab(c, &k);
        simulate::<C, wmc_lab::WmcLab, _>(c, &k, &m, &lab::Fail);
    }
    path_ini "path/INI" "ours" "the initialisation establishes the invariant" => |c| {
        let k = any::steps(c);
        establish::<C, path::Path<C::L>>(c, &k);
    }
    path_add_inv_inv "path/add_inv/INV" "ours" "preserves the invariant: steps are real, and old is a strict order" => |c| {
        let k = any::steps(c);
        let m = any::history(c, &k);
        let [s1, s2] = any::pair(c, &k.sym.mc0, &m.wmc.runex, true);
        let t = any::symmetric_to(c, &k.sym, &s2);
        let wmc = wmc::AddInv { s1, s2, t };
        let e = path::AddInv { wmc, op: c.op("op") };
        assume_all!(c, |l, v| e.guard(&l, &k, &m, v));
        let after = e.action(&c.logic(), &k, &m);
        prove_all!(c, |l, v| after.history(&l, &k, v));
    }
    path_add_inv_inv2 "path/add_inv/INV2" "ours" "preserves the invariant: every stored state has an older parent" => |c| {
        let k = any::steps(c);
        let m = any::parents(c, &k);
        let [s1, s2] = any::pair(c, &k.sym.mc0, &m.wmc.runex, true);
        let t = any::symmetric_to(c, &k.sym, &s2);
        let wmc = wmc::AddInv { s1, s2, t };
        let e = path::AddInv { wmc, op: c.op("op") };
        assume_all!(c, |l, v| e.guard(&l, &k, &m, v));
        let after = e.action(&c.logic(), &k, &m);
        prove_all!(c, |l, v| after.inv2(&l, &k, v));
    }
    path_add_err_inv "path/add_err/INV" "ours" "preserves the invariant: steps are real, and old is a strict order" => |c| {
        let k = any::steps(c);
        let m = any::history(c, &k);
        let [s1, s2] = any::pair(c, &k.sym.mc0, &m.wmc.runex, false);
        let t = any::symmetric_to(c, &k.sym, &s2);
        let wmc = wmc::AddErr { s1, s2, t };
        let e = path::AddErr { wmc, op: c.op("op") };
        assume_all!(c, |l, v| e.guard(&l, &k, &m, v));
        let after = e.action(&c.logic(), &k, &m);
        prove_all!(c, |l, v| after.history(&l, &k, v));
    }
    path_add_err_inv2 "path/add_err/INV2" "ours" "preserves the invariant: every stored state has an older parent" => |c| {
        let k = any::steps(c);
        let m = any::parents(c, &k);
        let [s1, s2] = any::pair(c, &k.sym.mc0, &m.wmc.runex, false);
        let t = any::symmetric_to(c, &k.sym, &s2);
        let wmc = wmc::AddErr { s1, s2, t };
        let e = path::AddErr { wmc, op: c.op("op") };
        assume_all!(c, |l, v| e.guard(&l, &k, &m, v));
        let after = e.action(&c.logic(), &k, &m);
        prove_all!(c, |l, v| after.inv2(&l, &k, v));
    }
    path_remove_inv "path/remove/INV" "ours" "preserves the invariant: steps are real, and old is a strict order" => |c| {
        let k = any::steps(c);
        let m = any::history(c, &k);
        let e = path::Remove { wmc: wmc::Remove { s1: any::one(c, "s1", &m.wmc.runex) } };
        assume_all!(c, |l, v| e.guard(&l, &k, &m, v));
        let after = e.action(&c.logic(), &k, &m);
        prove_all!(c, |l, v| after.history(&l, &k, v));
    }
    path_remove_inv2 "path/remove/INV2" "ours" "preserves the invariant: every stored state has an older parent" => |c| {
        let k = any::steps(c);
        let m = any::parents(c, &k);
        let e = path::Remove { wmc: wmc::Remove { s1: any::one(c, "s1", &m.wmc.runex) } };
        assume_all!(c, |l, v| e.guard(&l, &k, &m, v));
        let after = e.action(&c.logic(), &k, &m);
        prove_all!(c, |l, v| after.inv2(&l, &k, v));
    }
    wmc_path_ini "wmc_path/INI" "ours" "the initialisations are related" => |c| {
        let k = any::steps(c);
        establish_glue::<C, wmc_path::WmcPath>(c, &k);
    }
    wmc_path_add_inv_sim "wmc_path/add_inv/SIM" "ours" "has an abstract step" => |c| {
        let k = any::steps(c);
        let m = any::history(c, &k);
        let [s1, s2] = any::pair(c, &k.sym.mc0, &m.wmc.runex, true);
        let t = any::symmetric_to(c, &k.sym, &s2);
        let wmc = wmc::AddInv { s1, s2, t };
        let e = path::AddInv { wmc, op: c.op("op") };
        simulate::<C, wmc_path::WmcPath, _>(c, &k, &m, &e);
    }
    wmc_path_add_err_sim "wmc_path/add_err/SIM" "ours" "has an abstract step" => |c| {
        let k = any::steps(c);
        let m = any::history(c, &k);
        let [s1, s2] = any::pair(c, &k.sym.mc0, &m.wmc.runex, false);
        let t = any::symmetric_to(c, &k.sym, &s2);
        let wmc = wmc::AddErr { s1, s2, t };
        let e = path::AddErr { wmc, op: c.op("op") };
        simulate::<C, wmc_path::WmcPath, _>(c, &k, &m, &e);
    }
    wmc_path_remove_sim "wmc_path/remove/SIM" "ours" "has an abstract step" => |c| {
        let k = any::steps(c);
        let m = any::history(c, &k);
        let e = path::Remove { wmc: wmc::Remove { s1: any::one(c, "s1", &m.wmc.runex) } };
        simulate::<C, wmc_path::WmcPath, _>(c, &k, &m, &e);
    }
    path_add_inv_exa "path/add_inv/EXA" "ours" "when the state is stored as it came, par ⊆ ltr is preserved" => |c| {
        let k = any::steps(c);
        let m = any::history(c, &k);
        let [s1, s2] = any::pair(c, &k.sym.mc0, &m.wmc.runex, true);
        let t = any::symmetric_to(c, &k.sym, &s2);
        let wmc = wmc::AddInv { s1, s2, t };
        let e = path::AddInv { wmc, op: c.op("op") };
        let l = c.logic();
        c.assume("par ⊆ ltr", m.exact(&l, &k));
        c.assume("t = s2", l.eq(&e.wmc.t, &e.wmc.s2));
        assume_all!(c, |l, v| e.guard(&l, &k, &m, v));
        let after = e.action(&l, &k, &m);
        c.prove("path/exact: par ⊆ ltr", after.exact(&l, &k));
    }
    path_add_err_exa "path/add_err/EXA" "ours" "when the state is stored as it came, par ⊆ ltr is preserved" => |c| {
        let k = any::steps(c);
        let m = any::history(c, &k);
        let [s1, s2] = any::pair(c, &k.sym.mc0, &m.wmc.runex, false);
        let t = any::symmetric_to(c, &k.sym, &s2);
        let wmc = wmc::AddErr { s1, s2, t };
        let e = path::AddErr { wmc, op: c.op("op") };
        let l = c.logic();
        c.assume("par ⊆ ltr", m.exact(&l, &k));
        c.assume("t = s2", l.eq(&e.wmc.t, &e.wmc.s2));
        assume_all!(c, |l, v| e.guard(&l, &k, &m, v));
        let after = e.action(&l, &k, &m);
        c.prove("path/exact: par ⊆ ltr", after.exact(&l, &k));
    }
    path_add_inv_ena "path/add_inv/ENA" "ours" "whenever wmc's event is enabled, it is with some label" => |c| {
        let k = any::steps(c);
        assume_all!(c, |l, v| k.prp1(&l, v));
        let m = any::path(c, &k);
        let [s1, s2] = any::pair(c, &k.sym.mc0, &m.wmc.runex, true);
        let t = any::symmetric_to(c, &k.sym, &s2);
        let wmc = wmc::AddInv { s1, s2, t };
        assume_all!(c, |l, v| wmc.guard(&l, &k.sym, &m.wmc, v));
        let l = c.logic();
        let enabled = l.exists_op(|op| enabled(&path::AddInv { wmc: wmc.clone(), op: op.clone() }, &l, &k, &m));
        c.prove("∃op.(path/add_inv is enabled)", enabled);
    }
    path_add_err_ena "path/add_err/ENA" "ours" "whenever wmc's event is enabled, it is with some label" => |c| {
        let k = any::steps(c);
        assume_all!(c, |l, v| k.prp1(&l, v));
        let m = any::path(c, &k);
        let [s1, s2] = any::pair(c, &k.sym.mc0, &m.wmc.runex, false);
        let t = any::symmetric_to(c, &k.sym, &s2);
        let wmc = wmc::AddErr { s1, s2, t };
        assume_all!(c, |l, v| wmc.guard(&l, &k.sym, &m.wmc, v));
        let l = c.logic();
        let enabled = l.exists_op(|op| enabled(&path::AddErr { wmc: wmc.clone(), op: op.clone() }, &l, &k, &m));
        c.prove("∃op.(path/add_err is enabled)", enabled);
    }
    path_unf "path/UNF" "ours" "a recorded step can be taken from every state symmetric to the parent" => |c| {
        // The states first: of the relations only their part is looked at then.
        let (s1, s, t, u) = (any::state(c, "s1"), any::state(c, "s"), any::state(c, "t"), any::state(c, "u"));
        let op = c.op("op");
        let k = any::steps(c);
        let wmc = wmc::Wmc::initialisation(&c.logic(), &k.sym);
        let (par, old) = c.history(&k, &wmc.rrac, &wmc.rrac);
        let m = path::Path { wmc, par, old };
        assume_all!(c, |l, v| {
            m.inv1_for(&l, &k, (&s1, &op, &s), &t, v);
            k.prp2_for(&l, (&s1, &op, &t), &u, v);
        });
        let l = c.logic();
        c.assume("(s1, op, s) ∈ par", l.step(&m.par, &s1, &op, &s));
        c.assume("s1 ↦ u ∈ orb", l.related(&k.sym.orb, &s1, &u));
        let moved = l.exists(|u2| {
            let step = l.exists_op(|op2| l.step(&k.ltr, &u, op2, u2));
            l.and(&step, &l.related(&k.sym.orb, &s, u2))
        });
        c.prove("∃(op2, u2).((u, op2, u2) ∈ ltr ∧ s ↦ u2 ∈ orb)", moved);
    }
}
