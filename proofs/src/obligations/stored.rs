//! The machine with a stored set and witnesses: wmc, and that rmc2 refines it.

use kanon_refinement::glue::{Glue, mc1_wmc, wmc_rmc2};
use kanon_refinement::logic::{Event, Logic, Machine};
use kanon_refinement::{rmc2, wmc};

use crate::any;
use crate::choose::Choose;
use crate::obligations::obligations;
use crate::schema::{
    assume_all, decrease, establish, establish_glue, exclude, preserve, prove_all, simulate, stable,
};

obligations! {
    wmc_orb1 "wmc/ORB-1" "Fig. 8 and composition" "the orbits of a group satisfy wmc/prp1" => |c| {
        let k = any::symmetric(c, &["rmc1/prp2"]);
        let k = wmc::Constants { orb: wmc::orbits(&c.logic(), &k), mc0: k.mc0 };
        any::prove_needed(c, "wmc/prp1", |l, mut v| k.properties(l, &mut v));
    }
    wmc_orb2 "wmc/ORB-2" "Fig. 8 and composition" "the orbits of a group satisfy wmc/prp2" => |c| {
        let k = any::symmetric(c, &["rmc1/prp3"]);
        let k = wmc::Constants { orb: wmc::orbits(&c.logic(), &k), mc0: k.mc0 };
        any::prove_needed(c, "wmc/prp2", |l, mut v| k.properties(l, &mut v));
    }
    wmc_orb3 "wmc/ORB-3" "Fig. 8 and composition" "the orbits of a group satisfy wmc/prp3" => |c| {
        let k = any::symmetric(c, &[]);
        any::assume_needed(c, &["wmc/grp1"], |l, mut v| wmc::closed(l, &k, &mut v));
        let k = wmc::Constants { orb: wmc::orbits(&c.logic(), &k), mc0: k.mc0 };
        any::prove_needed(c, "wmc/prp3", |l, mut v| k.properties(l, &mut v));
    }
    wmc_orb4 "wmc/ORB-4" "Fig. 8 and composition" "the orbits of a group satisfy wmc/prp4" => |c| {
        let k = any::symmetric(c, &["rmc1/prp4"]);
        let k = wmc::Constants { orb: wmc::orbits(&c.logic(), &k), mc0: k.mc0 };
        any::prove_needed(c, "wmc/prp4", |l, mut v| k.properties(l, &mut v));
    }
    wmc_orb5 "wmc/ORB-5" "Fig. 8 and composition" "the orbits of a group satisfy wmc/prp5" => |c| {
        let k = any::symmetric(c, &["rmc1/prp5"]);
        let k = wmc::Constants { orb: wmc::orbits(&c.logic(), &k), mc0: k.mc0 };
        any::prove_needed(c, "wmc/prp5", |l, mut v| k.properties(l, &mut v));
    }
    wmc_orb6 "wmc/ORB-6" "Fig. 8 and composition" "the orbits of a group satisfy wmc/prp6" => |c| {
        let k = any::symmetric(c, &["rmc1/prp7"]);
        let k = wmc::Constants { orb: wmc::orbits(&c.logic(), &k), mc0: k.mc0 };
        any::prove_needed(c, "wmc/prp6", |l, mut v| k.properties(l, &mut v));
    }
    wmc_orb7 "wmc/ORB-7" "Fig. 8 and composition" "the orbits of a group satisfy wmc/prp7" => |c| {
        let k = any::symmetric(c, &["rmc1/prp1", "rmc1/prp3", "rmc1/prp7"]);
        let k = wmc::Constants { orb: wmc::orbits(&c.logic(), &k), mc0: k.mc0 };
        any::prove_needed(c, "wmc/prp7", |l, mut v| k.properties(l, &mut v));
    }
    wmc_lem_a "wmc/LEM-A" "ours" "the states whose whole orbit is reachable are a fixpoint" => |c| {
        let k = any::equivalent(c);
        let (s, s2, t2) = (any::state(c, "s"), any::state(c, "s2"), any::state(c, "t2"));
        let l = c.logic();
        c.assume("orb[{s}] ⊆ reach", l.member(&s, &k.reached(&l)));
        c.assume("s ↦ s2 ∈ tr", l.related(&k.mc0.tr, &s, &s2));
        c.assume("s2 ↦ t2 ∈ orb", l.related(&k.orb, &s2, &t2));
        c.assume("wmc/prp7: for s, s2, t2", k.backward(&l, &s, &s2, &t2));
        c.prove("t2 ∈ reach", l.member(&t2, &k.mc0.reach));
    }
    wmc_lem "wmc/LEM" "ours" "symmetric states are reachable together" => |c| {
        let k = any::equivalent(c);
        let l = c.logic();
        // By wmc/LEM-A a fixpoint.
        let r = k.reached(&l);
        c.assume("tr[r] ⊆ r", l.subset(&l.image(&k.mc0.tr, &r), &r));
        any::induction(c, &k.mc0, &r);
        c.prove("wmc/lem1: s ↦ t ∈ orb ⇒ (s ∈ reach ⇔ t ∈ reach)", k.reach_is_symmetric(&l));
    }
    wmc_fix "wmc/FIX" "ours" "when pass is enabled, what the stored states stand for is a fixpoint" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        assume_all!(c, |l, v| wmc::Pass.guard(&l, &k, &m, v));
        let (s, s2) = (any::state(c, "s"), any::state(c, "s2"));
        let t = any::symmetric_to(c, &k, &s, "t");
        let l = c.logic();
        c.assume("s ↦ t ∈ orb", l.related(&k.orb, &s, &t));
        c.assume("t ∈ rrac", l.member(&t, &m.rrac));
        c.assume("s ↦ s2 ∈ tr", l.related(&k.mc0.tr, &s, &s2));
        c.assume("wmc/prp6: for s, s2, t", k.forward(&l, &s, &s2, &t));
        c.prove("s2 ∈ orb⁻¹[rrac]", l.member(&s2, &k.covered(&l, &m.rrac)));
    }
    wmc_ini "wmc/INI" "ours" "the initialisation establishes the invariant" => |c| {
        let k = any::stored(c);
        establish::<C, wmc::Wmc<C::L>>(c, &k);
    }
    wmc_add_inv_inv "wmc/add_inv/INV" "ours" "preserves the invariant" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, true, "wmc/add_inv");
        let t = any::symmetric_to(c, &k, &s2, "wmc/add_inv");
        let e = wmc::AddInv { s1, s2, t };
        preserve(c, &k, &m, &e);
    }
    wmc_add_inv_var "wmc/add_inv/VAR" "ours" "makes the variant smaller" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, true, "wmc/add_inv");
        let t = any::symmetric_to(c, &k, &s2, "wmc/add_inv");
        let e = wmc::AddInv { s1, s2, t };
        decrease(c, &k, &m, &e);
    }
    wmc_add_err_inv "wmc/add_err/INV" "ours" "preserves the invariant" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, false, "wmc/add_err");
        let t = any::symmetric_to(c, &k, &s2, "wmc/add_err");
        let e = wmc::AddErr { s1, s2, t };
        preserve(c, &k, &m, &e);
    }
    wmc_add_err_var "wmc/add_err/VAR" "ours" "makes the variant smaller" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, false, "wmc/add_err");
        let t = any::symmetric_to(c, &k, &s2, "wmc/add_err");
        let e = wmc::AddErr { s1, s2, t };
        decrease(c, &k, &m, &e);
    }
    wmc_remove_inv "wmc/remove/INV" "ours" "preserves the invariant" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let e = wmc::Remove { s1: any::one(c, "s1", &m.runex, "wmc/remove") };
        preserve(c, &k, &m, &e);
    }
    wmc_remove_var "wmc/remove/VAR" "ours" "makes the variant smaller" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let e = wmc::Remove { s1: any::one(c, "s1", &m.runex, "wmc/remove") };
        decrease(c, &k, &m, &e);
    }
    mc1_wmc_ini "mc1_wmc/INI" "ours" "the initialisations are related" => |c| {
        let k = any::stored(c);
        establish_glue::<C, mc1_wmc::Mc1Wmc>(c, &k);
    }
    mc1_wmc_add_inv_sim "mc1_wmc/add_inv/SIM" "ours" "has an abstract step, or is skip" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, true, "wmc/add_inv");
        let t = any::symmetric_to(c, &k, &s2, "wmc/add_inv");
        let e = wmc::AddInv { s1, s2, t };
        simulate::<C, mc1_wmc::Mc1Wmc, _>(c, &k, &m, &e);
    }
    mc1_wmc_add_err_sim "mc1_wmc/add_err/SIM" "ours" "has an abstract step, or is skip" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, false, "wmc/add_err");
        let t = any::symmetric_to(c, &k, &s2, "wmc/add_err");
        let e = wmc::AddErr { s1, s2, t };
        simulate::<C, mc1_wmc::Mc1Wmc, _>(c, &k, &m, &e);
    }
    mc1_wmc_remove_sim "mc1_wmc/remove/SIM" "ours" "has an abstract step, or is skip" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let e = wmc::Remove { s1: any::one(c, "s1", &m.runex, "wmc/remove") };
        simulate::<C, mc1_wmc::Mc1Wmc, _>(c, &k, &m, &e);
    }
    mc1_wmc_pass_sim "mc1_wmc/pass/SIM" "ours" "strengthens the guard of pass" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        any::covered_is_all(c, &k, &m);
        simulate::<C, mc1_wmc::Mc1Wmc, _>(c, &k, &m, &wmc::Pass);
    }
    mc1_wmc_fail_sim "mc1_wmc/fail/SIM" "ours" "strengthens the guard of fail" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        simulate::<C, mc1_wmc::Mc1Wmc, _>(c, &k, &m, &wmc::Fail);
    }
    wmc_exc "wmc/EXC" "ours" "pass and fail exclude each other" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        exclude(c, &k, &m, &wmc::Pass, &wmc::Fail);
    }
    wmc_dlf "wmc/DLF" "ours" "some event is enabled" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let responsive = wmc::responsive(&c.logic(), &k, &m);
        c.prove("wmc/ast1: pass ∨ fail ∨ add_inv ∨ add_err ∨ remove", responsive);
    }
    wmc_rea "wmc/REA" "ours" "pass ⇒ every reachable state is symmetric to a stored one, and no other" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let rac = k.covered(&c.logic(), &m.rrac);
        any::covered_is_all(c, &k, &m);
        assume_all!(c, |l, v| wmc::Pass.guard(&l, &k, &m, v));
        let all = c.logic().same(&rac, &k.mc0.reach);
        c.prove("orb⁻¹[rrac] = reach", all);
    }
    wmc_remove_sta_add_inv "wmc/remove/STA-add_inv" "ours, for threads" "another thread's add_inv does not disturb a remove" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let mine = wmc::Remove { s1: any::one(c, "mine", &m.runex, "wmc/remove") };
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, true, "wmc/add_inv");
        let t = any::symmetric_to(c, &k, &s2, "wmc/add_inv");
        let e = wmc::AddInv { s1, s2, t };
        stable(c, &k, &m, &mine, &e);
    }
    wmc_remove_sta_add_err "wmc/remove/STA-add_err" "ours, for threads" "another thread's add_err does not disturb a remove" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let mine = wmc::Remove { s1: any::one(c, "mine", &m.runex, "wmc/remove") };
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, false, "wmc/add_err");
        let t = any::symmetric_to(c, &k, &s2, "wmc/add_err");
        let e = wmc::AddErr { s1, s2, t };
        stable(c, &k, &m, &mine, &e);
    }
    wmc_remove_sta_remove "wmc/remove/STA-remove" "ours, for threads" "another thread's remove of another state does not disturb a remove" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let mine = wmc::Remove { s1: any::one(c, "mine", &m.runex, "wmc/remove") };
        let e = wmc::Remove { s1: any::one(c, "s1", &m.runex, "wmc/remove") };
        let l = c.logic();
        c.assume("each state is taken once", l.not(&l.eq(&mine.s1, &e.s1)));
        stable(c, &k, &m, &mine, &e);
    }
    wmc_rmc2_ini "wmc_rmc2/INI" "ours" "the initialisations are related" => |c| {
        let k = any::asserted(c);
        establish_glue::<C, wmc_rmc2::WmcRmc2>(c, &k);
    }
    wmc_rmc2_add_inv_sim "wmc_rmc2/add_inv/SIM" "ours" "has an abstract step" => |c| {
        let k = any::asserted(c);
        let m = any::rmc2(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, true, "rmc2/add_inv");
        let e = rmc2::AddInv { s1, s2 };
        simulate::<C, wmc_rmc2::WmcRmc2, _>(c, &k, &m, &e);
    }
    wmc_rmc2_add_err_sim "wmc_rmc2/add_err/SIM" "ours" "has an abstract step" => |c| {
        let k = any::asserted(c);
        let m = any::rmc2(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, false, "rmc2/add_err");
        let e = rmc2::AddErr { s1, s2 };
        simulate::<C, wmc_rmc2::WmcRmc2, _>(c, &k, &m, &e);
    }
    wmc_rmc2_remove_sim "wmc_rmc2/remove/SIM" "ours" "has an abstract step" => |c| {
        let k = any::asserted(c);
        let m = any::rmc2(c, &k);
        let e = rmc2::Remove { s1: any::one(c, "s1", &m.runex, "rmc2/remove") };
        simulate::<C, wmc_rmc2::WmcRmc2, _>(c, &k, &m, &e);
    }
    wmc_rmc2_pass_sim "wmc_rmc2/pass/SIM" "ours" "strengthens the guard of pass" => |c| {
        let k = any::asserted(c);
        let m = any::rmc2(c, &k);
        simulate::<C, wmc_rmc2::WmcRmc2, _>(c, &k, &m, &rmc2::Pass);
    }
    wmc_rmc2_fail_sim "wmc_rmc2/fail/SIM" "ours" "strengthens the guard of fail" => |c| {
        let k = any::asserted(c);
        let m = any::rmc2(c, &k);
        simulate::<C, wmc_rmc2::WmcRmc2, _>(c, &k, &m, &rmc2::Fail);
    }
    wmc_rmc2_orb6 "wmc_rmc2/ORB-6" "Fig. 8" "equality of representatives satisfies wmc/prp6" => |c| {
        let k = any::symmetric(c, &["rmc1/prp8"]);
        let (s, s2, t, t2) = (any::state(c, "s"), any::state(c, "s2"), any::state(c, "t"), any::state(c, "t2"));
        let (p, q) = (c.automorphism("p", &k.aut), c.automorphism("q", &k.aut));
        let l = c.logic();
        c.assume("rmc1/prp9: p(s) = rep(s)", l.eq(&l.apply(&p, &s), &l.apply(&k.rep, &s)));
        c.assume("rmc1/prp9: q(t) = rep(t)", l.eq(&l.apply(&q, &t), &l.apply(&k.rep, &t)));
        c.assume("rmc1/prp1: q(t2) = p(s2)", l.eq(&l.apply(&q, &t2), &l.apply(&p, &s2)));
        c.assume("rmc1/prp7: for p, s, s2", k.preserves_tr(&l, &p, &s, &s2));
        c.assume("rmc1/prp7: for q, t, t2", k.preserves_tr(&l, &q, &t, &t2));
        let k = wmc::Constants { orb: wmc::same_rep(&l, &k), mc0: k.mc0 };
        c.prove("wmc/prp6", k.forward(&l, &s, &s2, &t));
    }
    wmc_rmc2_orb7 "wmc_rmc2/ORB-7" "Fig. 8" "equality of representatives satisfies wmc/prp7" => |c| {
        let k = any::symmetric(c, &["rmc1/prp8"]);
        let (s, s2, t2, t) = (any::state(c, "s"), any::state(c, "s2"), any::state(c, "t2"), any::state(c, "t"));
        let (p, q) = (c.automorphism("p", &k.aut), c.automorphism("q", &k.aut));
        let l = c.logic();
        c.assume("rmc1/prp9: p(s2) = rep(s2)", l.eq(&l.apply(&p, &s2), &l.apply(&k.rep, &s2)));
        c.assume("rmc1/prp9: q(t2) = rep(t2)", l.eq(&l.apply(&q, &t2), &l.apply(&k.rep, &t2)));
        c.assume("rmc1/prp1: q(t) = p(s)", l.eq(&l.apply(&q, &t), &l.apply(&p, &s)));
        c.assume("rmc1/prp7: for p, s, s2", k.preserves_tr(&l, &p, &s, &s2));
        c.assume("rmc1/prp7: for q, t, t2", k.preserves_tr(&l, &q, &t, &t2));
        let k = wmc::Constants { orb: wmc::same_rep(&l, &k), mc0: k.mc0 };
        c.prove("wmc/prp7", k.backward(&l, &s, &s2, &t2));
    }
    wmc_rmc2_orb1 "wmc_rmc2/ORB-1" "Fig. 8" "equality of representatives satisfies wmc/prp1" => |c| {
        let k = any::symmetric(c, &[]);
        let k = wmc::Constants { orb: wmc::same_rep(&c.logic(), &k), mc0: k.mc0 };
        any::prove_needed(c, "wmc/prp1", |l, mut v| k.properties(l, &mut v));
    }
    wmc_rmc2_orb2 "wmc_rmc2/ORB-2" "Fig. 8" "equality of representatives satisfies wmc/prp2" => |c| {
        let k = any::symmetric(c, &[]);
        let k = wmc::Constants { orb: wmc::same_rep(&c.logic(), &k), mc0: k.mc0 };
        any::prove_needed(c, "wmc/prp2", |l, mut v| k.properties(l, &mut v));
    }
    wmc_rmc2_orb3 "wmc_rmc2/ORB-3" "Fig. 8" "equality of representatives satisfies wmc/prp3" => |c| {
        let k = any::symmetric(c, &[]);
        let k = wmc::Constants { orb: wmc::same_rep(&c.logic(), &k), mc0: k.mc0 };
        any::prove_needed(c, "wmc/prp3", |l, mut v| k.properties(l, &mut v));
    }
    wmc_rmc2_orb4 "wmc_rmc2/ORB-4" "Fig. 8" "equality of representatives satisfies wmc/prp4" => |c| {
        let k = any::symmetric(c, &["rmc1/prp1", "rmc1/prp4", "rmc1/prp9"]);
        let k = wmc::Constants { orb: wmc::same_rep(&c.logic(), &k), mc0: k.mc0 };
        any::prove_needed(c, "wmc/prp4", |l, mut v| k.properties(l, &mut v));
    }
    wmc_rmc2_orb5 "wmc_rmc2/ORB-5" "Fig. 8" "equality of representatives satisfies wmc/prp5" => |c| {
        let k = any::symmetric(c, &["rmc1/prp5", "rmc1/prp9"]);
        let k = wmc::Constants { orb: wmc::same_rep(&c.logic(), &k), mc0: k.mc0 };
        any::prove_needed(c, "wmc/prp5", |l, mut v| k.properties(l, &mut v));
    }
    wmc_rmc2_inv "wmc_rmc2/INV" "ours" "the invariants of rmc2, rmc1 and mc1 imply that of wmc" => |c| {
        let k = any::asserted(c);
        let m = any::rmc2(c, &k);
        let l = c.logic();
        let a = wmc_rmc2::WmcRmc2::abstraction(&l, &k, &m);
        let ka = wmc_rmc2::WmcRmc2::constants(&l, &k);
        prove_all!(c, |l, v| a.invariant(&l, &ka, v));
    }
}
