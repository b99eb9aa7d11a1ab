//! Symmetry reduction as in the paper: rmc1, rmc2.

use kanon_refinement::glue::{mc1_rmc1, rmc1_rmc2};
use kanon_refinement::logic::{Event, Logic};
use kanon_refinement::{rmc1, rmc2};

use crate::any;
use crate::choose::Choose;
use crate::obligations::obligations;
use crate::schema::{
    assume_all, decrease, establish, establish_glue, exclude, preserve, prove_all, simulate,
};

obligations! {
    rmc1_lem_a "rmc1/LEM-A" "Section 5.1, (A)" "p[reach] is a fixpoint" => |c| {
        let k = any::symmetric(c);
        let (p, q) = any::inverses(c, &k);
        let (x, y) = (any::state(c, "x"), any::state(c, "y"));
        let l = c.logic();
        let image = l.map_image(&p, &k.mc0.reach);
        c.assume("x ∈ p[reach]", l.member(&x, &image));
        c.assume("x ↦ y ∈ tr", l.related(&k.mc0.tr, &x, &y));
        assume_all!(c, |l, v| k.prp7_for(&l, &p, &l.apply(&q, &x), &l.apply(&q, &y), v));
        c.prove("y ∈ p[reach]", l.member(&y, &image));
    }
    rmc1_lem_b "rmc1/LEM-B" "Section 5.1, (A) for the inverse" "p⁻¹[reach] is a fixpoint" => |c| {
        let k = any::symmetric(c);
        let p = c.automorphism("p", &k.aut);
        let (x, y) = (any::state(c, "x"), any::state(c, "y"));
        let l = c.logic();
        c.assume("x ∈ p⁻¹[reach]", l.member(&l.apply(&p, &x), &k.mc0.reach));
        c.assume("x ↦ y ∈ tr", l.related(&k.mc0.tr, &x, &y));
        assume_all!(c, |l, v| k.prp7_for(&l, &p, &x, &y, v));
        c.prove("y ∈ p⁻¹[reach]", l.member(&l.apply(&p, &y), &k.mc0.reach));
    }
    rmc1_lem_c "rmc1/LEM-C" "Section 5.1, (B)" "reach ⊆ p[reach]" => |c| {
        let k = c.rmc1();
        assume_all!(c, |l, v| k.mc0.prp6(&l, v));
        assume_all!(c, |l, v| k.prp4(&l, v));
        let p = c.automorphism("p", &k.aut);
        let l = c.logic();
        let r = l.map_image(&p, &k.mc0.reach);
        c.assume("rmc1/LEM-A: tr[r] ⊆ r", l.subset(&l.image(&k.mc0.tr, &r), &r));
        any::induction(c, &k.mc0, &r);
        c.prove("reach ⊆ p[reach]", l.subset(&k.mc0.reach, &r));
    }
    rmc1_lem_d "rmc1/LEM-D" "Section 5.1, (B) for the inverse" "reach ⊆ p⁻¹[reach]" => |c| {
        let k = c.rmc1();
        assume_all!(c, |l, v| k.mc0.prp6(&l, v));
        assume_all!(c, |l, v| k.prp4(&l, v));
        let p = c.automorphism("p", &k.aut);
        let l = c.logic();
        let r = l.preimage(&p, &k.mc0.reach);
        c.assume("rmc1/LEM-B: tr[r] ⊆ r", l.subset(&l.image(&k.mc0.tr, &r), &r));
        any::induction(c, &k.mc0, &r);
        c.prove("reach ⊆ p⁻¹[reach]", l.subset(&k.mc0.reach, &r));
    }
    rmc1_lem "rmc1/LEM" "Section 5.1, (C) to (E)" "automorphisms preserve reach: p[reach] = reach" => |c| {
        let k = c.rmc1();
        let (p, _) = any::inverses(c, &k);
        let x = any::state(c, "x");
        let l = c.logic();
        let (reach, image) = (&k.mc0.reach, l.map_image(&p, &k.mc0.reach));
        let moved = l.apply(&p, &x);
        let instance = |s| l.implies(&l.member(s, reach), &l.member(s, &image));
        c.assume("rmc1/LEM-C: for x", instance(&x));
        c.assume("rmc1/LEM-C: for p(x)", instance(&moved));
        c.assume("rmc1/LEM-D", l.subset(reach, &l.preimage(&p, reach)));
        c.prove("rmc1/lem1: x ∈ p[reach] ⇔ x ∈ reach", l.iff(&l.member(&x, &image), &l.member(&x, reach)));
        c.prove("rmc1/lem1: p(x) ∈ reach ⇔ x ∈ reach", l.iff(&l.member(&moved, reach), &l.member(&x, reach)));
    }
    rmc1_ast1 "rmc1/AST-1" "Figs. 8, 10" "the properties of Fig. 8 imply assertion 1 of Fig. 10" => |c| {
        let k = any::symmetric(c);
        assume_all!(c, |l, v| {
            k.prp5(&l, v);
            k.prp9(&l, v);
        });
        prove_all!(c, |l, v| k.ast1(&l, v));
    }
    rmc1_ast2 "rmc1/AST-2" "Figs. 8, 10" "the properties of Fig. 8 imply assertion 2 of Fig. 10" => |c| {
        let k = any::symmetric(c);
        assume_all!(c, |l, v| {
            k.prp4(&l, v);
            k.prp9(&l, v);
        });
        prove_all!(c, |l, v| k.ast2(&l, v));
    }
    rmc1_ast3 "rmc1/AST-3" "Figs. 8, 10" "the properties of Fig. 8 imply assertion 3 of Fig. 10" => |c| {
        let k = any::symmetric(c);
        assume_all!(c, |l, v| {
            k.prp1(&l, v);
            k.prp4(&l, v);
            k.prp9(&l, v);
        });
        prove_all!(c, |l, v| k.ast3(&l, v));
    }
    rmc1_ast4 "rmc1/AST-4" "Figs. 8, 10" "the properties of Fig. 8 imply assertion 4 of Fig. 10" => |c| {
        let k = any::symmetric(c);
        assume_all!(c, |l, v| {
            k.prp7(&l, v);
            k.prp8(&l, v);
            k.prp9(&l, v);
        });
        prove_all!(c, |l, v| k.ast4(&l, v));
    }
    rmc1_ast5 "rmc1/AST-5" "Figs. 8, 10" "the properties of Fig. 8 imply assertion 5 of Fig. 10, with the lemma" => |c| {
        let k = any::symmetric(c);
        assume_all!(c, |l, v| k.prp9(&l, v));
        any::assume_symmetric_reach(c, &k);
        prove_all!(c, |l, v| k.ast5(&l, v));
    }
    rmc1_ini "rmc1/INI" "Fig. 11" "the initialisation establishes the invariant" => |c| {
        let k = any::asserted(c);
        establish::<C, rmc1::Rmc1<C::L>>(c, &k);
    }
    rmc1_add_inv_inv "rmc1/add_inv/INV" "Fig. 12" "preserves the invariant" => |c| {
        let k = any::asserted(c);
        let m = any::rmc1(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, true);
        let e = rmc1::AddInv { s1, s2 };
        preserve(c, &k, &m, &e);
    }
    rmc1_add_inv_var "rmc1/add_inv/VAR" "Fig. 12" "makes the variant smaller" => |c| {
        let k = any::asserted(c);
        let m = any::rmc1(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, true);
        let e = rmc1::AddInv { s1, s2 };
        decrease(c, &k, &m, &e);
    }
    rmc1_add_err_inv "rmc1/add_err/INV" "Fig. 12" "preserves the invariant" => |c| {
        let k = any::asserted(c);
        let m = any::rmc1(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, false);
        let e = rmc1::AddErr { s1, s2 };
        preserve(c, &k, &m, &e);
    }
    rmc1_add_err_var "rmc1/add_err/VAR" "Fig. 12" "makes the variant smaller" => |c| {
        let k = any::asserted(c);
        let m = any::rmc1(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, false);
        let e = rmc1::AddErr { s1, s2 };
        decrease(c, &k, &m, &e);
    }
    rmc1_remove_inv "rmc1/remove/INV" "Fig. 12" "preserves the invariant" => |c| {
        let k = any::asserted(c);
        let m = any::rmc1(c, &k);
        let e = rmc1::Remove { s1: any::one(c, "s1", &m.runex) };
        preserve(c, &k, &m, &e);
    }
    rmc1_remove_var "rmc1/remove/VAR" "Fig. 12" "makes the variant smaller" => |c| {
        let k = any::asserted(c);
        let m = any::rmc1(c, &k);
        let e = rmc1::Remove { s1: any::one(c, "s1", &m.runex) };
        decrease(c, &k, &m, &e);
    }
    mc1_rmc1_ini "mc1_rmc1/INI" "Fig. 11" "the initialisations are related" => |c| {
        let k = any::asserted(c);
        establish_glue::<C, mc1_rmc1::Mc1Rmc1>(c, &k);
    }
    mc1_rmc1_add_inv_sim "mc1_rmc1/add_inv/SIM" "Fig. 12" "has an abstract step, or is skip" => |c| {
        let k = any::asserted(c);
        let m = any::rmc1(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, true);
        let e = rmc1::AddInv { s1, s2 };
        simulate::<C, mc1_rmc1::Mc1Rmc1, _>(c, &k, &m, &e);
    }
    mc1_rmc1_add_err_sim "mc1_rmc1/add_err/SIM" "Fig. 12" "has an abstract step, or is skip" => |c| {
        let k = any::asserted(c);
        let m = any::rmc1(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, false);
        let e = rmc1::AddErr { s1, s2 };
        simulate::<C, mc1_rmc1::Mc1Rmc1, _>(c, &k, &m, &e);
    }
    mc1_rmc1_pass_sim "mc1_rmc1/pass/SIM" "Fig. 12" "strengthens the guard of pass" => |c| {
        let k = any::asserted(c);
        let m = any::rmc1(c, &k);
        any::induction(c, &k.mc0, &m.rac);
        simulate::<C, mc1_rmc1::Mc1Rmc1, _>(c, &k, &m, &rmc1::Pass);
    }
    mc1_rmc1_fail_sim "mc1_rmc1/fail/SIM" "Fig. 12" "strengthens the guard of fail" => |c| {
        let k = any::asserted(c);
        let m = any::rmc1(c, &k);
        simulate::<C, mc1_rmc1::Mc1Rmc1, _>(c, &k, &m, &rmc1::Fail);
    }
    rmc1_exc "rmc1/EXC" "Fig. 12" "pass and fail exclude each other" => |c| {
        let k = any::asserted(c);
        let m = any::rmc1(c, &k);
        exclude(c, &k, &m, &rmc1::Pass, &rmc1::Fail);
    }
    rmc1_dlf "rmc1/DLF" "Section 5.1" "some event is enabled" => |c| {
        let k = any::asserted(c);
        let m = any::rmc1(c, &k);
        let responsive = rmc1::responsive(&c.logic(), &k, &m);
        c.prove("rmc1/ast6: pass ∨ fail ∨ add_inv ∨ add_err ∨ remove", responsive);
    }
    rmc1_rea "rmc1/REA" "ours" "pass ⇒ rac = reach" => |c| {
        let k = any::asserted(c);
        let m = any::rmc1(c, &k);
        any::induction(c, &k.mc0, &m.rac);
        assume_all!(c, |l, v| rmc1::Pass.guard(&l, &k, &m, v));
        let all = c.logic().same(&m.rac, &k.mc0.reach);
        c.prove("rac = reach", all);
    }
    rmc2_ini "rmc2/INI" "Fig. 13" "the initialisation establishes the invariant" => |c| {
        let k = any::asserted(c);
        establish::<C, rmc2::Rmc2<C::L>>(c, &k);
    }
    rmc2_add_inv_inv "rmc2/add_inv/INV" "Figs. 12, 13" "preserves the invariant" => |c| {
        let k = any::asserted(c);
        let m = any::rmc2(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, true);
        let e = rmc2::AddInv { s1, s2 };
        preserve(c, &k, &m, &e);
    }
    rmc2_add_inv_var "rmc2/add_inv/VAR" "Figs. 12, 13" "makes the variant smaller" => |c| {
        let k = any::asserted(c);
        let m = any::rmc2(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, true);
        let e = rmc2::AddInv { s1, s2 };
        decrease(c, &k, &m, &e);
    }
    rmc2_add_err_inv "rmc2/add_err/INV" "Figs. 12, 13" "preserves the invariant" => |c| {
        let k = any::asserted(c);
        let m = any::rmc2(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, false);
        let e = rmc2::AddErr { s1, s2 };
        preserve(c, &k, &m, &e);
    }
    rmc2_add_err_var "rmc2/add_err/VAR" "Figs. 12, 13" "makes the variant smaller" => |c| {
        let k = any::asserted(c);
        let m = any::rmc2(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, false);
        let e = rmc2::AddErr { s1, s2 };
        decrease(c, &k, &m, &e);
    }
    rmc2_remove_inv "rmc2/remove/INV" "Figs. 12, 13" "preserves the invariant" => |c| {
        let k = any::asserted(c);
        let m = any::rmc2(c, &k);
        let e = rmc2::Remove { s1: any::one(c, "s1", &m.runex) };
        preserve(c, &k, &m, &e);
    }
    rmc2_remove_var "rmc2/remove/VAR" "Figs. 12, 13" "makes the variant smaller" => |c| {
        let k = any::asserted(c);
        let m = any::rmc2(c, &k);
        let e = rmc2::Remove { s1: any::one(c, "s1", &m.runex) };
        decrease(c, &k, &m, &e);
    }
    rmc1_rmc2_ini "rmc1_rmc2/INI" "Fig. 13" "the initialisations are related" => |c| {
        let k = any::asserted(c);
        establish_glue::<C, rmc1_rmc2::Rmc1Rmc2>(c, &k);
    }
    rmc1_rmc2_add_inv_sim "rmc1_rmc2/add_inv/SIM" "Figs. 12, 13" "has an abstract step, or is skip" => |c| {
        let k = any::asserted(c);
        let m = any::rmc2(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, true);
        let e = rmc2::AddInv { s1, s2 };
        simulate::<C, rmc1_rmc2::Rmc1Rmc2, _>(c, &k, &m, &e);
    }
    rmc1_rmc2_add_err_sim "rmc1_rmc2/add_err/SIM" "Figs. 12, 13" "has an abstract step, or is skip" => |c| {
        let k = any::asserted(c);
        let m = any::rmc2(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, false);
        let e = rmc2::AddErr { s1, s2 };
        simulate::<C, rmc1_rmc2::Rmc1Rmc2, _>(c, &k, &m, &e);
    }
    rmc1_rmc2_remove_sim "rmc1_rmc2/remove/SIM" "Figs. 12, 13" "has an abstract step, or is skip" => |c| {
        let k = any::asserted(c);
        let m = any::rmc2(c, &k);
        let e = rmc2::Remove { s1: any::one(c, "s1", &m.runex) };
        simulate::<C, rmc1_rmc2::Rmc1Rmc2, _>(c, &k, &m, &e);
    }
    rmc1_rmc2_pass_sim "rmc1_rmc2/pass/SIM" "Figs. 12, 13" "strengthens the guard of pass" => |c| {
        let k = any::asserted(c);
        let m = any::rmc2(c, &k);
        simulate::<C, rmc1_rmc2::Rmc1Rmc2, _>(c, &k, &m, &rmc2::Pass);
    }
    rmc1_rmc2_fail_sim "rmc1_rmc2/fail/SIM" "Figs. 12, 13" "strengthens the guard of fail" => |c| {
        let k = any::asserted(c);
        let m = any::rmc2(c, &k);
        simulate::<C, rmc1_rmc2::Rmc1Rmc2, _>(c, &k, &m, &rmc2::Fail);
    }
    rmc2_exc "rmc2/EXC" "Figs. 12, 13" "pass and fail exclude each other" => |c| {
        let k = any::asserted(c);
        let m = any::rmc2(c, &k);
        exclude(c, &k, &m, &rmc2::Pass, &rmc2::Fail);
    }
    rmc2_dlf "rmc2/DLF" "Section 5.2" "some event is enabled" => |c| {
        let k = any::asserted(c);
        let m = any::rmc2(c, &k);
        let responsive = rmc2::responsive(&c.logic(), &k, &m);
        c.prove("rmc2/ast1: pass ∨ fail ∨ add_inv ∨ add_err ∨ remove", responsive);
    }
    rmc2_rea "rmc2/REA" "ours" "pass ⇒ rep⁻¹[rrac] = reach" => |c| {
        let k = any::asserted(c);
        let m = any::rmc2(c, &k);
        let l = c.logic();
        let rac = l.preimage(&k.rep, &m.rrac);
        any::induction(c, &k.mc0, &rac);
        assume_all!(c, |l, v| rmc2::Pass.guard(&l, &k, &m, v));
        c.prove("rep⁻¹[rrac] = reach", l.same(&rac, &k.mc0.reach));
    }
}
