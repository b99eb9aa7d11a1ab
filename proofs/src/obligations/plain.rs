//! Plain model checking: mc0, mc1, mc2.

use kanon_refinement::glue::{mc0_mc1, mc1_mc2};
use kanon_refinement::logic::{Event, Logic, enabled};
use kanon_refinement::{mc0, mc1, mc2};

use crate::any;
use crate::choose::Choose;
use crate::obligations::obligations;
use crate::schema::{assume_all, decrease, establish, establish_glue, exclude, preserve, simulate};

obligations! {
    mc0_exc "mc0/EXC" "Fig. 2" "pass and fail exclude each other and one is enabled" => |c| {
        let k = any::system(c);
        exclude(c, &k, &mc0::Mc0, &mc0::Pass, &mc0::Fail);
        let l = c.logic();
        let either = l.or(&enabled(&mc0::Pass, &l, &k, &mc0::Mc0), &enabled(&mc0::Fail, &l, &k, &mc0::Mc0));
        c.prove("pass ∨ fail", either);
    }
    mc1_ini "mc1/INI" "Fig. 4" "the initialisation establishes the invariant" => |c| {
        let k = any::system(c);
        establish::<C, mc1::Mc1<C::L>>(c, &k);
    }
    mc1_add_inv_inv "mc1/add_inv/INV" "Fig. 5" "preserves the invariant" => |c| {
        let k = any::system(c);
        let m = any::mc1(c, &k);
        let e = mc1::AddInv { ss: any::ss(c, &k, true) };
        preserve(c, &k, &m, &e);
    }
    mc1_add_inv_var "mc1/add_inv/VAR" "Fig. 5" "makes the variant smaller" => |c| {
        let k = any::system(c);
        let m = any::mc1(c, &k);
        let e = mc1::AddInv { ss: any::ss(c, &k, true) };
        decrease(c, &k, &m, &e);
    }
    mc1_add_err_inv "mc1/add_err/INV" "Fig. 5" "preserves the invariant" => |c| {
        let k = any::system(c);
        let m = any::mc1(c, &k);
        let e = mc1::AddErr { ss: any::ss(c, &k, false) };
        preserve(c, &k, &m, &e);
    }
    mc1_add_err_var "mc1/add_err/VAR" "Fig. 5" "makes the variant smaller" => |c| {
        let k = any::system(c);
        let m = any::mc1(c, &k);
        let e = mc1::AddErr { ss: any::ss(c, &k, false) };
        decrease(c, &k, &m, &e);
    }
    mc0_mc1_pass_sim "mc0_mc1/pass/SIM" "Fig. 5" "strengthens the guard of pass" => |c| {
        let k = any::system(c);
        let m = any::mc1(c, &k);
        simulate::<C, mc0_mc1::Mc0Mc1, _>(c, &k, &m, &mc1::Pass);
    }
    mc0_mc1_fail_sim "mc0_mc1/fail/SIM" "Fig. 5" "strengthens the guard of fail" => |c| {
        let k = any::system(c);
        let m = any::mc1(c, &k);
        simulate::<C, mc0_mc1::Mc0Mc1, _>(c, &k, &m, &mc1::Fail);
    }
    mc1_exc "mc1/EXC" "Fig. 5" "pass and fail exclude each other" => |c| {
        let k = any::system(c);
        let m = any::mc1(c, &k);
        exclude(c, &k, &m, &mc1::Pass, &mc1::Fail);
    }
    mc1_dlf "mc1/DLF" "Fig. 5" "some event is enabled" => |c| {
        let k = any::system(c);
        let m = any::mc1(c, &k);
        let l = c.logic();
        let step = l.exists(|s| {
            let ss = l.single(s);
            let inv = enabled(&mc1::AddInv { ss: ss.clone() }, &l, &k, &m);
            l.or(&inv, &enabled(&mc1::AddErr { ss }, &l, &k, &m))
        });
        let answer = l.or(&enabled(&mc1::Pass, &l, &k, &m), &enabled(&mc1::Fail, &l, &k, &m));
        c.prove("pass ∨ fail ∨ add_inv ∨ add_err", l.or(&answer, &step));
    }
    mc2_ini "mc2/INI" "Fig. 6" "the initialisation establishes the invariant" => |c| {
        let k = any::system(c);
        establish::<C, mc2::Mc2<C::L>>(c, &k);
    }
    mc2_add_inv_inv "mc2/add_inv/INV" "Fig. 7" "preserves the invariant" => |c| {
        let k = any::system(c);
        let m = any::mc2(c, &k);
        let [s1, s2] = any::pair(c, &k, &m.unex, true);
        let e = mc2::AddInv { s1, s2 };
        preserve(c, &k, &m, &e);
    }
    mc2_add_inv_var "mc2/add_inv/VAR" "Fig. 7" "makes the variant smaller" => |c| {
        let k = any::system(c);
        let m = any::mc2(c, &k);
        let [s1, s2] = any::pair(c, &k, &m.unex, true);
        let e = mc2::AddInv { s1, s2 };
        decrease(c, &k, &m, &e);
    }
    mc2_add_err_inv "mc2/add_err/INV" "Fig. 7" "preserves the invariant" => |c| {
        let k = any::system(c);
        let m = any::mc2(c, &k);
        let [s1, s2] = any::pair(c, &k, &m.unex, false);
        let e = mc2::AddErr { s1, s2 };
        preserve(c, &k, &m, &e);
    }
    mc2_add_err_var "mc2/add_err/VAR" "Fig. 7" "makes the variant smaller" => |c| {
        let k = any::system(c);
        let m = any::mc2(c, &k);
        let [s1, s2] = any::pair(c, &k, &m.unex, false);
        let e = mc2::AddErr { s1, s2 };
        decrease(c, &k, &m, &e);
    }
    mc2_remove_inv "mc2/remove/INV" "Fig. 7" "preserves the invariant" => |c| {
        let k = any::system(c);
        let m = any::mc2(c, &k);
        let e = mc2::Remove { s1: any::one(c, "s1", &m.unex) };
        preserve(c, &k, &m, &e);
    }
    mc2_remove_var "mc2/remove/VAR" "Fig. 7" "makes the variant smaller" => |c| {
        let k = any::system(c);
        let m = any::mc2(c, &k);
        let e = mc2::Remove { s1: any::one(c, "s1", &m.unex) };
        decrease(c, &k, &m, &e);
    }
    mc1_mc2_ini "mc1_mc2/INI" "Fig. 6" "the initialisations are related" => |c| {
        let k = any::system(c);
        establish_glue::<C, mc1_mc2::Mc1Mc2>(c, &k);
    }
    mc1_mc2_add_inv_sim "mc1_mc2/add_inv/SIM" "Fig. 7" "has an abstract step, or is skip" => |c| {
        let k = any::system(c);
        let m = any::mc2(c, &k);
        let [s1, s2] = any::pair(c, &k, &m.unex, true);
        let e = mc2::AddInv { s1, s2 };
        simulate::<C, mc1_mc2::Mc1Mc2, _>(c, &k, &m, &e);
    }
    mc1_mc2_add_err_sim "mc1_mc2/add_err/SIM" "Fig. 7" "has an abstract step, or is skip" => |c| {
        let k = any::system(c);
        let m = any::mc2(c, &k);
        let [s1, s2] = any::pair(c, &k, &m.unex, false);
        let e = mc2::AddErr { s1, s2 };
        simulate::<C, mc1_mc2::Mc1Mc2, _>(c, &k, &m, &e);
    }
    mc1_mc2_pass_sim "mc1_mc2/pass/SIM" "Fig. 7" "strengthens the guard of pass" => |c| {
        let k = any::system(c);
        let m = any::mc2(c, &k);
        any::induction(c, &k, &m.rac);
        simulate::<C, mc1_mc2::Mc1Mc2, _>(c, &k, &m, &mc2::Pass);
    }
    mc1_mc2_fail_sim "mc1_mc2/fail/SIM" "Fig. 7" "strengthens the guard of fail" => |c| {
        let k = any::system(c);
        let m = any::mc2(c, &k);
        simulate::<C, mc1_mc2::Mc1Mc2, _>(c, &k, &m, &mc2::Fail);
    }
    mc2_exc "mc2/EXC" "Fig. 7" "pass and fail exclude each other" => |c| {
        let k = any::system(c);
        let m = any::mc2(c, &k);
        exclude(c, &k, &m, &mc2::Pass, &mc2::Fail);
    }
    mc2_dlf "mc2/DLF" "Section 4" "some event is enabled" => |c| {
        let k = any::system(c);
        let m = any::mc2(c, &k);
        let responsive = mc2::responsive(&c.logic(), &k, &m);
        c.prove("mc2/ast1: pass ∨ fail ∨ add_inv ∨ add_err ∨ remove", responsive);
    }
    mc2_rea "mc2/REA" "ours" "pass ⇒ rac = reach" => |c| {
        let k = any::system(c);
        let m = any::mc2(c, &k);
        any::induction(c, &k, &m.rac);
        assume_all!(c, |l, v| mc2::Pass.guard(&l, &k, &m, v));
        let all = c.logic().same(&m.rac, &k.reach);
        c.prove("rac = reach", all);
    }
}
