//! Laws of sets, relations and sequences that the reference evaluator must satisfy for all values: each is a
//! predicate over A, B, C (sets of integers), r, s, t (relations), p, q (sequences) and n, m (integers).

use crate::support::{self, typed};
use kanon::eval::reference::{Cx, Env, holds};
use kanon::model::{Decl, Expr, Model, Type, VarId};
use kanon::value::{Scope, Value};
use proptest::prelude::{ProptestConfig, Strategy, prop, prop_assert_eq, proptest};
use quickcheck::{Arbitrary, QuickCheck};

const SETS: &[&str] = &[
    "A \\/ B = B \\/ A",
    "A \\/ (B \\/ C) = (A \\/ B) \\/ C",
    "A /\\ (B \\/ C) = (A /\\ B) \\/ (A /\\ C)",
    "A \\/ (B /\\ C) = (A \\/ B) /\\ (A \\/ C)",
    "A - (B \\/ C) = (A - B) /\\ (A - C)",
    "A - (B /\\ C) = (A - B) \\/ (A - C)",
    "A - (A - B) = A /\\ B",
    "(A <: B & B <: A) <=> A = B",
    "A <<: B <=> (A <: B & A /= B)",
    "A <: B <=> A : POW(B)",
    "POW(A) /\\ POW(B) = POW(A /\\ B)",
    "POW(A) \\/ POW(B) <: POW(A \\/ B)",
    "POW1(A) = POW(A) - {{}}",
    "card(POW(A)) = 2 ** card(A)",
    "card(A) + card(B) = card(A \\/ B) + card(A /\\ B)",
    "card(A * B) = card(A) * card(B)",
    "(A * B = {}) <=> (A = {} or B = {})",
    "union(POW(A)) = A",
    "A /= {} => inter({A}) = A",
    "UNION(x).(x : A | {x}) = A",
    "{x | x : A & x : B} = A /\\ B",
    "{x | x : A & x /: B} = A - B",
    "{x . x : A | x + n} = {y | y : -20..20 & y - n : A}",
    "!x.(x : A => x : B) <=> A <: B",
    "#x.(x : A & x : B) <=> A /\\ B /= {}",
    "not(!x.(x : A => x > n)) <=> #x.(x : A & x <= n)",
    "A /= {} => (min(A) : A & max(A) : A & !x.(x : A => x : min(A)..max(A)))",
    "SIGMA(x).(x : A | 1) = card(A)",
    "SIGMA(x).(x : A \\/ B | x) = SIGMA(x).(x : A | x) + SIGMA(x).(x : B - A | x)",
    "n..m = {x | x >= n & x <= m}",
    "m /= 0 => (n / m) * m + (n - (n / m) * m) = n",
    "(n >= 0 & m > 0) => (n mod m : 0..m - 1 & (n / m) * m + n mod m = n)",
    "(A = {}) <=> (card(A) = 0)",
    "FIN(A) = POW(A)",
    "bool(A = B) = TRUE <=> A = B",
];

const RELATIONS: &[&str] = &[
    "r~~ = r",
    "dom(r~) = ran(r)",
    "(r ; s)~ = (s~ ; r~)",
    "((r ; s) ; t) = (r ; (s ; t))",
    "(r ; (s \\/ t)) = (r ; s) \\/ (r ; t)",
    "dom((r ; s)) <: dom(r)",
    "r[A \\/ B] = r[A] \\/ r[B]",
    "r[A] = ran(A <| r)",
    "(r ; s)[A] = s[r[A]]",
    "r~[A] = dom(r |> A)",
    "A <| r = (id(A) ; r)",
    "r |> A = (r ; id(A))",
    "(A <| r) \\/ (A <<| r) = r",
    "(r |> A) \\/ (r |>> A) = r",
    "(r <+ s) = (dom(s) <<| r) \\/ s",
    "dom(r <+ s) = dom(r) \\/ dom(s)",
    "r <+ {} = r",
    "dom((r >< s)) = dom(r) /\\ dom(s)",
    "!(x,y,z).(x |-> (y |-> z) : (r >< s) <=> (x |-> y : r & x |-> z : s))",
    "(r || s)~ = (r~ || s~)",
    "closure1(r) = r \\/ (r ; closure1(r))",
    "(closure1(r) ; closure1(r)) <: closure1(r)",
    "closure1(closure1(r)) = closure1(r)",
    "iterate(r, 2) = (r ; r)",
    "iterate(r, 3) = (r ; iterate(r, 2))",
    "r : A <-> B <=> r <: A * B",
    "r : dom(r) <-> ran(r)",
    "r : A +-> B <=> (r : A <-> B & (r~ ; r) <: id(B))",
    "r : A --> B <=> (r : A +-> B & dom(r) = A)",
    "r : A >-> B <=> (r : A --> B & r~ : B +-> A)",
    "r : A -->> B <=> (r : A --> B & ran(r) = B)",
    "r : A >->> B <=> (r : A >-> B & r : A -->> B)",
    "r : A +->> B <=> (r : A +-> B & ran(r) = B)",
    "r : A >+> B <=> (r : A +-> B & r~ : B +-> A)",
    "r : A >+>> B <=> (r : A >+> B & ran(r) = B)",
    "r : A <<-> B <=> (r : A <-> B & dom(r) = A)",
    "r : A <->> B <=> (r : A <-> B & ran(r) = B)",
    "r : A <<->> B <=> (r : A <<-> B & r : A <->> B)",
    "rel(fnc(r)) = r",
    "fnc(r) : dom(r) --> POW1(ran(r))",
    "(prj1(A,B))[C * B] <: A /\\ C",
    "%x.(x : A | x + 1)[B] = {y | y : -20..20 & y - 1 : A /\\ B}",
    "r : dom(r) +-> ran(r) => !x.(x : dom(r) => {r(x)} = r[{x}])",
    "closure(r)[A] = A \\/ closure1(r)[A]",
    "{x, y | x |-> y : r & y : A} = r |> A",
    "UNION(x).(x : A | r[{x}]) = r[A]",
];

const SEQUENCES: &[&str] = &[
    "p : seq(INTEGER)",
    "size(p ^ q) = size(p) + size(q)",
    "(p ^ q) ^ p = p ^ (q ^ p)",
    "rev(rev(p)) = p",
    "rev(p ^ q) = rev(q) ^ rev(p)",
    "n -> p = [n] ^ p",
    "p <- n = p ^ [n]",
    "first(n -> p) = n",
    "last(p <- n) = n",
    "tail(n -> p) = p",
    "front(p <- n) = p",
    "dom(p) = 1..size(p)",
    "card(p) = size(p)",
    "n : 0..size(p) => (p /|\\ n) ^ (p \\|/ n) = p",
    "n : 0..size(p) => size(p /|\\ n) = n",
    "n : 0..size(p) => p /|\\ n = (1..n) <| p",
    "conc([p,q]) = p ^ q",
    "conc([]) = {} & conc([p]) = p",
    "ran(p ^ q) = ran(p) \\/ ran(q)",
    "p : iseq(INTEGER) <=> size(p) = card(ran(p))",
    "p : perm(ran(p)) <=> p : iseq(ran(p))",
    "p : seq1(INTEGER) <=> p /= []",
    "!i.(i : dom(p) => rev(p)(i) = p(size(p) + 1 - i))",
    "(p ; %x.(x : INTEGER | x + n)) = %i.(i : dom(p) | p(i) + n)",
    "p /= [] => p = first(p) -> tail(p)",
    "p /= [] => p = front(p) <- last(p)",
];

struct Laws {
    model: Model,
    scope: Scope,
    laws: Vec<(&'static str, Expr)>,
}

impl Laws {
    fn new(texts: &'static [&'static str]) -> Laws {
        let relation = Type::rel(Type::Int, Type::Int);
        let names = [("A", 3), ("B", 3), ("C", 3), ("r", 2), ("s", 2), ("t", 2), ("p", 2), ("q", 2)];
        let (mut model, scope) = support::base();
        for (name, kind) in names {
            let ty = if kind == 3 { Type::Int.pow() } else { relation.clone() };
            model.variables.push(Decl { name: name.into(), ty, span: Default::default() });
        }
        for name in ["n", "m"] {
            model.variables.push(Decl { name: name.into(), ty: Type::Int, span: Default::default() });
        }
        let laws =
            texts.iter().map(|text| (*text, typed(&mut model, text).expect("a law is typed"))).collect();
        Laws { model, scope, laws }
    }

    /// The first law that is not true for these values.
    fn broken(&self, values: &Values) -> Option<String> {
        let cx = Cx::new(&self.model, &self.scope);
        let all = values.in_order();
        let env = all
            .into_iter()
            .enumerate()
            .fold(Env::new(&self.model), |env, (i, v)| env.with_variable(VarId(i as u32), v));
        self.laws.iter().find_map(|(text, law)| match holds(&cx, &env, law) {
            Ok(true) => None,
            other => Some(format!("{text}: {other:?} for {values:?}")),
        })
    }
}

#[derive(Clone, Debug)]
struct Values {
    sets: [Vec<i8>; 3],
    relations: [Vec<(i8, i8)>; 3],
    sequences: [Vec<i8>; 2],
    numbers: [i8; 2],
}

impl Values {
    fn in_order(&self) -> Vec<Value> {
        let set = |s: &Vec<i8>| Value::set(s.iter().map(|i| Value::int(*i)));
        let pair = |(a, b): &(i8, i8)| Value::pair(Value::int(*a), Value::int(*b));
        let relation = |r: &Vec<(i8, i8)>| Value::set(r.iter().map(pair));
        let item = |(i, v): (usize, &i8)| Value::pair(Value::int(i + 1), Value::int(*v));
        let sequence = |s: &Vec<i8>| Value::set(s.iter().enumerate().map(item));
        let mut all: Vec<Value> = self.sets.iter().map(set).collect();
        all.extend(self.relations.iter().map(relation));
        all.extend(self.sequences.iter().map(sequence));
        all.extend(self.numbers.iter().map(|n| Value::int(*n)));
        all
    }
}

fn values() -> impl Strategy<Value = Values> {
    let number = || -2..4i8;
    let set = move || prop::collection::vec(number(), 0..5);
    let relation = move || prop::collection::vec((number(), number()), 0..5);
    let all =
        ([set(), set(), set()], [relation(), relation(), relation()], [set(), set()], [number(), number()]);
    all.prop_map(|(sets, relations, sequences, numbers)| Values { sets, relations, sequences, numbers })
}

impl Arbitrary for Values {
    fn arbitrary(g: &mut quickcheck::Gen) -> Self {
        let small = |g: &mut quickcheck::Gen| u8::arbitrary(g) as i8 % 4;
        let list =
            |g: &mut quickcheck::Gen| -> Vec<i8> { (0..u8::arbitrary(g) % 5).map(|_| small(g)).collect() };
        let pairs = |g: &mut quickcheck::Gen| list(g).into_iter().zip(list(g)).collect();
        let relations = [pairs(g), pairs(g), pairs(g)];
        Values {
            sets: [list(g), list(g), list(g)],
            relations,
            sequences: [list(g), list(g)],
            numbers: [i8::arbitrary(g) % 6, i8::arbitrary(g) % 6],
        }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let whole = self.clone();
        let parts = (self.sets.to_vec(), self.relations.to_vec(), self.sequences.to_vec());
        Box::new(parts.shrink().filter_map(move |(sets, relations, sequences)| {
            Some(Values {
                sets: sets.try_into().ok()?,
                relations: relations.try_into().ok()?,
                sequences: sequences.try_into().ok()?,
                numbers: whole.numbers,
            })
        }))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sets(values in values()) {
        prop_assert_eq!(LAWS.with(|l| l.0.broken(&values)), None);
    }

    #[test]
    fn relations(values in values()) {
        prop_assert_eq!(LAWS.with(|l| l.1.broken(&values)), None);
    }

    #[test]
    fn sequences(values in values()) {
        prop_assert_eq!(LAWS.with(|l| l.2.broken(&values)), None);
    }
}

thread_local! {
    static LAWS: (Laws, Laws, Laws) = (Laws::new(SETS), Laws::new(RELATIONS), Laws::new(SEQUENCES));
}

#[test]
fn quickcheck_all() {
    fn property(values: Values) -> Result<bool, String> {
        let broken = LAWS.with(|l| l.0.broken(&values).or(l.1.broken(&values)).or(l.2.broken(&values)));
        broken.map_or(Ok(true), Err)
    }
    QuickCheck::new().tests(200).quickcheck(property as fn(Values) -> Result<bool, String>);
}
