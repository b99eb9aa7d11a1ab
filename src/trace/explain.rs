use crate::model::Expr;
use crate::system::System;
use crate::value::fault::Fault;
pub enum PartKind { Value, Witness, Note }
pub struct Part { pub kind: PartKind, pub text: String, pub value: String, pub depth: usize }
pub struct Context { pub event: Option<usize>, pub in_properties: bool, pub has_state: bool }
pub struct Explainer<'a> { system: &'a System<'a> }
impl<'a> Explainer<'a> {
    pub fn new(system: &'a System<'a>, _row: Option<&'a [u64]>, _valuation: usize) -> Self { Explainer { system } }
    pub fn predicate(&self, _e: &Expr, _truth: bool) -> Vec<Part> { vec![] }
    pub fn deadlock(&self) -> Vec<Part> { vec![] }
    pub fn fault(&self, _f: &Fault, c: Context) -> (String, Vec<(String,String)>, Vec<Part>) {
        let op = match c.event { Some(e) => self.system.events[e].name.to_string(), None if c.in_properties => "PROPERTIES".into(), None => "INITIALISATION".into() };
        (op, vec![], vec![])
    }
}
