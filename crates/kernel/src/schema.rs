//! Our own validator of a named subset of JSON Schema 2020-12 (engine.md §2.7).
//!
//! A schema is compiled once: local `$ref`s become indices, an unknown keyword or a dangling
//! reference withholds that one tool with the keyword or pointer named. A value is then checked
//! without recursion through references alone, so cycles end. Nothing is coerced, and a key
//! that no part of the schema declares is refused at every depth, whatever
//! `additionalProperties` says; `additionalProperties` with a schema declares a map.

mod check;
mod compile;
mod decimal;

use crate::json::JsonError;
use check::Run;
use decimal::Decimal;
use serde_json::{Number, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Most problems told of one value.
pub const PROBLEMS_MAX: usize = 16;
/// Most nodes of a compiled schema.
pub const NODES_MAX: usize = 4096;
/// Most properties of one schema (engine.md §2.12).
pub const PROPERTIES_MAX: usize = 512;
/// Most schema applications to one value: `anyOf` inside `anyOf` multiplies.
pub const WORK_MAX: usize = 100_000;

/// Why a schema is withheld.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// A keyword that is not of the subset, or whose value is not what it takes.
    #[error("the keyword “{keyword}” at {pointer} {why}")]
    Keyword {
        /// Keyword.
        keyword: String,
        /// JSON pointer of the schema it stands in.
        pointer: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A reference that leads nowhere, elsewhere, or only to itself.
    #[error("the reference {target} at {pointer} {why}")]
    Reference {
        /// What it points to.
        target: String,
        /// JSON pointer of the schema it stands in.
        pointer: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Over a bound.
    #[error("the schema has more than {0} {1}")]
    TooLarge(usize, &'static str),
    /// Not JSON.
    #[error(transparent)]
    Json(#[from] JsonError),
}

/// What is wrong with one place of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Kind, as the router names it.
    pub kind: ProblemKind,
    /// JSON pointer into the arguments; empty for the whole.
    pub pointer: String,
    /// What the schema asks for.
    pub expected: String,
    /// What was there.
    pub observed: String,
}

/// Kinds of problems, in the order in which the router reports them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum ProblemKind {
    Undeclared,
    Missing,
    Type,
    Value,
    Suspicious,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Type {
    Null,
    Boolean,
    Object,
    Array,
    Number,
    Integer,
    String,
}

impl Type {
    const ALL: [(&'static str, Self); 7] = [
        ("null", Self::Null),
        ("boolean", Self::Boolean),
        ("object", Self::Object),
        ("array", Self::Array),
        ("number", Self::Number),
        ("integer", Self::Integer),
        ("string", Self::String),
    ];
    fn parse(s: &str) -> Option<Self> {
        Self::ALL.iter().find(|(n, _)| *n == s).map(|(_, t)| *t)
    }
    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, t)| *t == self).map_or("", |(n, _)| n)
    }
    fn fits(self, v: &Value) -> bool {
        match (self, v) {
            (Self::Null, Value::Null)
            | (Self::Boolean, Value::Bool(_))
            | (Self::Object, Value::Object(_))
            | (Self::Array, Value::Array(_))
            | (Self::Number, Value::Number(_))
            | (Self::String, Value::String(_)) => true,
            (Self::Integer, Value::Number(n)) => Decimal::of(n).is_integer(),
            _ => false,
        }
    }
}

/// Schemas that apply to one and the same value through each other: with the bound on the depth
/// of values it bounds the recursion, so that no schema can end the stack.
pub const CHAIN_MAX: usize = 16;

#[derive(Clone, Debug, Default)]
struct Node {
    never: bool,
    types: Option<BTreeSet<Type>>,
    properties: BTreeMap<String, usize>,
    has_properties: bool,
    additional: Option<usize>,
    closed: bool,
    required: Vec<String>,
    items: Option<usize>,
    prefix: Vec<usize>,
    allowed: Option<Vec<Value>>,
    numbers: Vec<(&'static str, Number)>,
    counts: Vec<(&'static str, u64)>,
    pattern: Option<(String, regex_lite::Regex)>,
    any: Vec<usize>,
    one: Vec<usize>,
    all: Vec<usize>,
    reference: Option<usize>,
    unique: bool,
    /// Annotation used by the router: `path`, `command`, `identifier`.
    format: Option<String>,
    title: Option<String>,
}

/// A compiled schema.
#[derive(Clone, Debug)]
pub struct Schema {
    nodes: Vec<Node>,
}

/// A top-level property, for argument hints and completion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Name.
    pub name: String,
    /// It must be there.
    pub required: bool,
    /// Its enumerated texts, if it has any.
    pub values: Vec<String>,
    /// Its `format` annotation, if any.
    pub format: Option<String>,
    /// It takes text.
    pub text: bool,
}

const COUNTS: [&str; 6] = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];

fn escape(s: &str) -> String {
    s.replace('~', "~0").replace('/', "~1")
}

/// Where in a value something stands. It lives on the stack and is spelled out, as a JSON
/// pointer, only for a problem: most arguments have none.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At<'p> {
    Root,
    Key(&'p Self, &'p str),
    Item(&'p Self, usize),
}

impl std::fmt::Display for At<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(above, key) => write!(f, "{above}/{}", escape(key)),
            Self::Item(above, n) => write!(f, "{above}/{n}"),
        }
    }
}

impl Schema {
    /// Compiles a schema's text.
    ///
    /// # Errors
    /// [`SchemaError`], naming keyword or pointer.
    pub fn compile(text: &str) -> Result<Self, SchemaError> {
        compile::compile(text)
    }

    /// Top-level properties in their order.
    #[must_use]
    pub fn properties(&self) -> Vec<Property> {
        let mut at = &self.nodes[0];
        while let Some(i) = at.reference {
            at = &self.nodes[i];
        }
        let one = |(name, i): (&String, &usize)| {
            let mut n = &self.nodes[*i];
            while let Some(i) = n.reference {
                n = &self.nodes[i];
            }
            let texts = n.allowed.iter().flatten().filter_map(|v| v.as_str().map(str::to_owned)).collect();
            Property {
                name: name.clone(),
                required: at.required.contains(name),
                values: texts,
                format: n.format.clone(),
                text: n.types.as_ref().is_some_and(|t| t.contains(&Type::String)),
            }
        };
        let mut out: Vec<Property> = at.properties.iter().map(one).collect();
        // Required ones first, in the order in which the schema requires them.
        let rank = |p: &Property| at.required.iter().position(|r| *r == p.name).unwrap_or(usize::MAX);
        out.sort_by_key(rank);
        out
    }

    /// Checks a value; no problem means it is valid. Problems come in order of kind and place.
    #[must_use]
    pub fn check(&self, value: &Value) -> Vec<Problem> {
        let mut run = Run { nodes: &self.nodes, work: 0 };
        let mut out = run.place(0, value, &At::Root);
        if run.work > WORK_MAX {
            // An alternative that was given up may have been the one that fits, or one too many:
            // nothing that was found so far is worth telling.
            return vec![Problem {
                kind: ProblemKind::Value,
                pointer: String::new(),
                expected: "arguments that can be checked in bounded time".into(),
                observed: "more alternatives than can be tried".into(),
            }];
        }
        out.sort_by(|a, b| (a.kind, &a.pointer).cmp(&(b.kind, &b.pointer)));
        out.dedup_by(|a, b| (a.kind, &a.pointer, &a.expected) == (b.kind, &b.pointer, &b.expected));
        out.truncate(PROBLEMS_MAX);
        out
    }

    /// The `format` annotation that applies to each text in a valid value: (pointer, format,
    /// text). Of alternatives only those that fit apply. False when the work ran out.
    #[must_use]
    pub fn formats<'v>(&self, value: &'v Value, each: &mut impl FnMut(&str, &str, &'v str)) -> bool {
        let mut run = Run { nodes: &self.nodes, work: 0 };
        run.formats(0, value, &At::Root, each);
        run.work <= WORK_MAX
    }

    /// Every property name that the schema declares somewhere.
    #[must_use]
    pub fn declared_names(&self) -> BTreeSet<&str> {
        self.nodes.iter().flat_map(|n| n.properties.keys().map(String::as_str)).collect()
    }
}

#[cfg(test)]
mod tests;
