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
        let k = any::symmetric(c);
        assume_all!(c, |l, v| k.prp2(&l, v));
        let k = wmc::Constants { orb: wmc::orbits(&c.logic(), &k), mc0: k.mc0 };
        prove_all!(c, |l, v| k.prp1(&l, v));
    }
    wmc_orb2 "wmc/ORB-2" "Fig. 8 and composition" "the orbits of a group satisfy wmc/prp2" => |c| {
        let k = any::symmetric(c);
        assume_all!(c, |l, v| k.prp3(&l, v));
        let k = wmc::Constants { orb: wmc::orbits(&c.logic(), &k), mc0: k.mc0 };
        prove_all!(c, |l, v| k.prp2(&l, v));
    }
    wmc_orb3 "wmc/ORB-3" "Fig. 8 and composition" "the orbits of a group satisfy wmc/prp3" => |c| {
        let k = any::symmetric(c);
        assume_all!(c, |l, v| wmc::closed(&l, &k, v));
        let k = wmc::Constants { orb: wmc::orbits(&c.logic(), &k), mc0: k.mc0 };
        prove_all!(c, |l, v| k.prp3(&l, v));
    }
    wmc_orb4 "wmc/ORB-4" "Fig. 8 and composition" "the orbits of a group satisfy wmc/prp4" => |c| {
        let k = any::symmetric(c);
        assume_all!(c, |l, v| k.prp4(&l, v));
        let k = wmc::Constants { orb: wmc::orbits(&c.logic(), &k), mc0: k.mc0 };
        prove_all!(c, |l, v| k.prp4(&l, v));
    }
    wmc_orb5 "wmc/ORB-5" "Fig. 8 and composition" "the orbits of a group satisfy wmc/prp5" => |c| {
        let k = any::symmetric(c);
        assume_all!(c, |l, v| k.prp5(&l, v));
        let k = wmc::Constants { orb: wmc::orbits(&c.logic(), &k), mc0: k.mc0 };
        prove_all!(c, |l, v| k.prp5(&l, v));
    }
    wmc_orb6 "wmc/ORB-6" "Fig. 8 and composition" "the orbits of a group satisfy wmc/prp6" => |c| {
        let k = any::symmetric(c);
        assume_all!(c, |l, v| k.prp7(&l, v));
        let k = wmc::Constants { orb: wmc::orbits(&c.logic(), &k), mc0: k.mc0 };
        prove_all!(c, |l, v| k.prp6(&l, v));
    }
    wmc_orb7 "wmc/ORB-7" "Fig. 8 and composition" "the orbits of a group satisfy wmc/prp7" => |c| {
        let k = any::symmetric(c);
        assume_all!(c, |l, v| {
            k.prp1(&l, v);
            k.prp3(&l, v);
            k.prp7(&l, v);
        });
        let k = wmc::Constants { orb: wmc::orbits(&c.logic(), &k), mc0: k.mc0 };
        prove_all!(c, |l, v| k.prp7(&l, v));
    }
    wmc_lem_a "wmc/LEM-A" "ours" "the states whose whole orbit is reachable are a fixpoint" => |c| {
        let k = any::equivalent(c);
        let (s, s2, t2) = (any::state(c, "s"), any::state(c, "s2"), any::state(c, "t2"));
        let l = c.logic();
        c.assume("orb[{s}] ⊆ reach", l.member(&s, &k.reached(&l)));
        c.assume("s ↦ s2 ∈ tr", l.related(&k.mc0.tr, &s, &s2));
        c.assume("s2 ↦ t2 ∈ orb", l.related(&k.orb, &s2, &t2));
        assume_all!(c, |l, v| k.prp7_for(&l, &s, &s2, &t2, v));
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
        let t = any::symmetric_to(c, &k, &s);
        let l = c.logic();
        c.assume("s ↦ t ∈ orb", l.related(&k.orb, &s, &t));
        c.assume("t ∈ rrac", l.member(&t, &m.rrac));
        c.assume("s ↦ s2 ∈ tr", l.related(&k.mc0.tr, &s, &s2));
        assume_all!(c, |l, v| k.prp6_for(&l, &s, &s2, &t, v));
        c.prove("s2 ∈ orb⁻¹[rrac]", l.member(&s2, &k.covered(&l, &m.rrac)));
    }
    wmc_ini "wmc/INI" "ours" "the initialisation establishes the invariant" => |c| {
        let k = any::stored(c);
        establish::<C, wmc::Wmc<C::L>>(c, &k);
    }
    wmc_add_inv_inv "wmc/add_inv/INV" "ours" "preserves the invariant" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, true);
        let t = any::symmetric_to(c, &k, &s2);
        let e = wmc::AddInv { s1, s2, t };
        preserve(c, &k, &m, &e);
    }
    wmc_add_inv_var "wmc/add_inv/VAR" "ours" "makes the variant smaller" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, true);
        let t = any::symmetric_to(c, &k, &s2);
        let e = wmc::AddInv { s1, s2, t };
        decrease(c, &k, &m, &e);
    }
    wmc_add_err_inv "wmc/add_err/INV" "ours" "preserves the invariant" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, false);
        let t = any::symmetric_to(c, &k, &s2);
        let e = wmc::AddErr { s1, s2, t };
        preserve(c, &k, &m, &e);
    }
    wmc_add_err_var "wmc/add_err/VAR" "ours" "makes the variant smaller" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, false);
        let t = any::symmetric_to(c, &k, &s2);
        let e = wmc::AddErr { s1, s2, t };
        decrease(c, &k, &m, &e);
    }
    wmc_remove_inv "wmc/remove/INV" "ours" "preserves the invariant" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let e = wmc::Remove { s1: any::one(c, "s1", &m.runex) };
        preserve(c, &k, &m, &e);
    }
    wmc_remove_var "wmc/remove/VAR" "ours" "makes the variant smaller" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let e = wmc::Remove { s1: any::one(c, "s1", &m.runex) };
        decrease(c, &k, &m, &e);
    }
    mc1_wmc_ini "mc1_wmc/INI" "ours" "the initialisations are related" => |c| {
        let k = any::stored(c);
        establish_glue::<C, mc1_wmc::Mc1Wmc>(c, &k);
    }
    mc1_wmc_add_inv_sim "mc1_wmc/add_inv/SIM" "ours" "has an abstract step, or is skip" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, true);
        let t = any::symmetric_to(c, &k, &s2);
        let e = wmc::AddInv { s1, s2, t };
        simulate::<C, mc1_wmc::Mc1Wmc, _>(c, &k, &m, &e);
    }
    mc1_wmc_add_err_sim "mc1_wmc/add_err/SIM" "ours" "has an abstract step, or is skip" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, false);
        let t = any::symmetric_to(c, &k, &s2);
        let e = wmc::AddErr { s1, s2, t };
        simulate::<C, mc1_wmc::Mc1Wmc, _>(c, &k, &m, &e);
    }
    mc1_wmc_remove_sim "mc1_wmc/remove/SIM" "ours" "has an abstract step, or is skip" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let e = wmc::Remove { s1: any::one(c, "s1", &m.runex) };
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
        let mine = wmc::Remove { s1: any::one(c, "mine", &m.runex) };
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, true);
        let t = any::symmetric_to(c, &k, &s2);
        let e = wmc::AddInv { s1, s2, t };
        stable(c, &k, &m, &mine, &e);
    }
    wmc_remove_sta_add_err "wmc/remove/STA-add_err" "ours, for threads" "another thread's add_err does not disturb a remove" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let mine = wmc::Remove { s1: any::one(c, "mine", &m.runex) };
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, false);
        let t = any::symmetric_to(c, &k, &s2);
        let e = wmc::AddErr { s1, s2, t };
        stable(c, &k, &m, &mine, &e);
    }
    wmc_remove_sta_remove "wmc/remove/STA-remove" "ours, for threads" "another thread's remove of another state does not disturb a remove" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let mine = wmc::Remove { s1: any::one(c, "mine", &m.runex) };
        let e = wmc::Remove { s1: any::one(c, "s1", &m.runex) };
        let l = c.logic();
        c.assume("each state is taken once", l.not(&l.eq(&mine.s1, &e.s1)));
        stable(c, &k, &m, &mine, &e);
    }
    wmc_part_sta_add_inv "wmc/part/STA-add_inv" "ours, for parts" "another state's add_inv does not disturb an expansion under way" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let part = any::part(c, &k, &m);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, true);
        let t = any::symmetric_to(c, &k, &s2);
        let e = wmc::AddInv { s1, s2, t };
        stable(c, &k, &m, &part, &e);
    }
    wmc_part_sta_add_err "wmc/part/STA-add_err" "ours, for parts" "another state's add_err does not disturb an expansion under way" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let part = any::part(c, &k, &m);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, false);
        let t = any::symmetric_to(c, &k, &s2);
        let e = wmc::AddErr { s1, s2, t };
        stable(c, &k, &m, &part, &e);
    }
    wmc_part_sta_remove "wmc/part/STA-remove" "ours, for parts" "another state's remove does not disturb an expansion under way" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let part = any::part(c, &k, &m);
        let e = wmc::Remove { s1: any::one(c, "s1", &m.runex) };
        let l = c.logic();
        c.assume("each state is taken once", l.not(&l.eq(&part.s1, &e.s1)));
        stable(c, &k, &m, &part, &e);
    }
    wmc_part_next_add_inv "wmc/part/NEXT-add_inv" "ours, for parts" "a successor that is stored by add_inv has arrived" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let part = any::part(c, &k, &m);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, true);
        let t = any::symmetric_to(c, &k, &s2);
        let e = wmc::AddInv { s1, s2, t };
        assume_all!(c, |l, v| {
            part.guard(&l, &k, &m, v);
            e.guard(&l, &k, &m, v);
        });
        let l = c.logic();
        let after = e.action(&l, &k, &m);
        let part = wmc::Part { done: l.union(&part.done, &l.single(&e.s2)), ..part };
        prove_all!(c, |l, v| part.guard(&l, &k, &after, v));
    }
    wmc_part_next_add_err "wmc/part/NEXT-add_err" "ours, for parts" "a successor that is stored by add_err has arrived" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let part = any::part(c, &k, &m);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, false);
        let t = any::symmetric_to(c, &k, &s2);
        let e = wmc::AddErr { s1, s2, t };
        assume_all!(c, |l, v| {
            part.guard(&l, &k, &m, v);
            e.guard(&l, &k, &m, v);
        });
        let l = c.logic();
        let after = e.action(&l, &k, &m);
        let part = wmc::Part { done: l.union(&part.done, &l.single(&e.s2)), ..part };
        prove_all!(c, |l, v| part.guard(&l, &k, &after, v));
    }
    wmc_part_next_known "wmc/part/NEXT-known" "ours, for parts" "a successor whose key is stored has arrived" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let part = any::part(c, &k, &m);
        let s2 = any::state(c, "s2");
        let t = any::symmetric_to(c, &k, &s2);
        assume_all!(c, |l, v| part.guard(&l, &k, &m, v));
        let l = c.logic();
        c.assume("s2 ↦ t ∈ orb", l.related(&k.orb, &s2, &t));
        c.assume("t ∈ rrac ∪ rerr", l.member(&t, &l.union(&m.rrac, &m.rerr)));
        let part = wmc::Part { done: l.union(&part.done, &l.single(&s2)), ..part };
        prove_all!(c, |l, v| part.guard(&l, &k, &m, v));
    }
    wmc_part_end "wmc/part/END" "ours, for parts" "when all successors have arrived, remove is enabled" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let part = any::part(c, &k, &m);
        assume_all!(c, |l, v| part.guard(&l, &k, &m, v));
        let l = c.logic();
        let all = l.subset(&l.image(&k.mc0.tr, &l.single(&part.s1)), &part.done);
        c.assume("tr[{s1}] ⊆ done", all);
        let remove = wmc::Remove { s1: part.s1 };
        prove_all!(c, |l, v| remove.guard(&l, &k, &m, v));
    }
    wmc_reopen_inv "wmc/reopen/INV" "ours, for checkpoints" "what was written down, taken up again: preserves the invariant" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let e = any::reopen(c, &k, &m);
        preserve(c, &k, &m, &e);
    }
    mc1_wmc_reopen_sim "mc1_wmc/reopen/SIM" "ours, for checkpoints" "is skip" => |c| {
        let k = any::stored(c);
        let m = any::wmc(c, &k);
        let e = any::reopen(c, &k, &m);
        simulate::<C, mc1_wmc::Mc1Wmc, _>(c, &k, &m, &e);
    }
    wmc_rmc2_ini "wmc_rmc2/INI" "ours" "the initialisations are related" => |c| {
        let k = any::asserted(c);
        establish_glue::<C, wmc_rmc2::WmcRmc2>(c, &k);
    }
    wmc_rmc2_add_inv_sim "wmc_rmc2/add_inv/SIM" "ours" "has an abstract step" => |c| {
        let k = any::asserted(c);
        let m = any::rmc2(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, true);
        let e = rmc2::AddInv { s1, s2 };
        simulate::<C, wmc_rmc2::WmcRmc2, _>(c, &k, &m, &e);
    }
    wmc_rmc2_add_err_sim "wmc_rmc2/add_err/SIM" "ours" "has an abstract step" => |c| {
        let k = any::asserted(c);
        let m = any::rmc2(c, &k);
        let [s1, s2] = any::pair(c, &k.mc0, &m.runex, false);
        let e = rmc2::AddErr { s1, s2 };
        simulate::<C, wmc_rmc2::WmcRmc2, _>(c, &k, &m, &e);
    }
    wmc_rmc2_remove_sim "wmc_rmc2/remove/SIM" "ours" "has an abstract step" => |c| {
        let k = any::asserted(c);
        let m = any::rmc2(c, &k);
        let e = rmc2::Remove { s1: any::one(c, "s1", &m.runex) };
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
        let k = any::symmetric(c);
        assume_all!(c, |l, v| k.prp8(&l, v));
        let (s, s2, t, t2) = (any::state(c, "s"), any::state(c, "s2"), any::state(c, "t"), any::state(c, "t2"));
        let (p, q) = (c.automorphism("p", &k.aut), c.automorphism("q", &k.aut));
        let l = c.logic();
        assume_all!(c, |l, v| k.prp9_for(&l, &p, &s, v));
        assume_all!(c, |l, v| k.prp9_for(&l, &q, &t, v));
        assume_all!(c, |l, v| k.prp1_for(&l, &q, &t2, &l.apply(&p, &s2), v));
        assume_all!(c, |l, v| k.prp7_for(&l, &p, &s, &s2, v));
        assume_all!(c, |l, v| k.prp7_for(&l, &q, &t, &t2, v));
        let k = wmc::Constants { orb: wmc::same_rep(&l, &k), mc0: k.mc0 };
        c.prove("wmc/prp6", k.forward(&l, &s, &s2, &t));
    }
    wmc_rmc2_orb7 "wmc_rmc2/ORB-7" "Fig. 8" "equality of representatives satisfies wmc/prp7" => |c| {
        let k = any::symmetric(c);
        assume_all!(c, |l, v| k.prp8(&l, v));
        let (s, s2, t2, t) = (any::state(c, "s"), any::state(c, "s2"), any::state(c, "t2"), any::state(c, "t"));
        let (p, q) = (c.automorphism("p", &k.aut), c.automorphism("q", &k.aut));
        let l = c.logic();
        assume_all!(c, |l, v| k.prp9_for(&l, &p, &s2, v));
        assume_all!(c, |l, v| k.prp9_for(&l, &q, &t2, v));
        assume_all!(c, |l, v| k.prp1_for(&l, &q, &t, &l.apply(&p, &s), v));
        assume_all!(c, |l, v| k.prp7_for(&l, &p, &s, &s2, v));
        assume_all!(c, |l, v| k.prp7_for(&l, &q, &t, &t2, v));
        let k = wmc::Constants { orb: wmc::same_rep(&l, &k), mc0: k.mc0 };
        c.prove("wmc/prp7", k.backward(&l, &s, &s2, &t2));
    }
    wmc_rmc2_orb1 "wmc_rmc2/ORB-1" "Fig. 8" "equality of representatives satisfies wmc/prp1" => |c| {
        let k = any::symmetric(c);
        let k = wmc::Constants { orb: wmc::same_rep(&c.logic(), &k), mc0: k.mc0 };
        prove_all!(c, |l, v| k.prp1(&l, v));
    }
    wmc_rmc2_orb2 "wmc_rmc2/ORB-2" "Fig. 8" "equality of representatives satisfies wmc/prp2" => |c| {
        let k = any::symmetric(c);
        let k = wmc::Constants { orb: wmc::same_rep(&c.logic(), &k), mc0: k.mc0 };
        prove_all!(c, |l, v| k.prp2(&l, v));
    }
    wmc_rmc2_orb3 "wmc_rmc2/ORB-3" "Fig. 8" "equality of representatives satisfies wmc/prp3" => |c| {
        let k = any::symmetric(c);
        let k = wmc::Constants { orb: wmc::same_rep(&c.logic(), &k), mc0: k.mc0 };
        prove_all!(c, |l, v| k.prp3(&l, v));
    }
    wmc_rmc2_orb4 "wmc_rmc2/ORB-4" "Fig. 8" "equality of representatives satisfies wmc/prp4" => |c| {
        let k = any::symmetric(c);
        assume_all!(c, |l, v| {
            k.prp1(&l, v);
            k.prp4(&l, v);
            k.prp9(&l, v);
        });
        let k = wmc::Constants { orb: wmc::same_rep(&c.logic(), &k), mc0: k.mc0 };
        prove_all!(c, |l, v| k.prp4(&l, v));
    }
    wmc_rmc2_orb5 "wmc_rmc2/ORB-5" "Fig. 8" "equality of representatives satisfies wmc/prp5" => |c| {
        let k = any::symmetric(c);
        assume_all!(c, |l, v| {
            k.prp5(&l, v);
            k.prp9(&l, v);
        });
        let k = wmc::Constants { orb: wmc::same_rep(&c.logic(), &k), mc0: k.mc0 };
        prove_all!(c, |l, v| k.prp5(&l, v));
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
