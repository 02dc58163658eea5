//! Our own validator of a named subset of JSON Schema 2020-12 (engine.md §2.7).
//!
//! A schema is compiled once: local `$ref`s become indices, an unknown keyword or a dangling
//! reference withholds that one tool with the keyword or pointer named. A value is then checked
//! without recursion through references alone, so cycles end. Nothing is coerced, and a key
//! that no part of the schema declares is refused at every depth, whatever
//! `additionalProperties` says; `additionalProperties` with a schema declares a map.

use crate::json::{self, JsonError};
use serde_json::{Map, Number, Value};
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

/// Largest power of ten that is told from others.
const EXP_MAX: i64 = 1_000_000;
/// Schemas that apply to one and the same value through each other: with the bound on the depth
/// of values it bounds the recursion, so that no schema can end the stack.
pub const CHAIN_MAX: usize = 16;
/// Schemas inside each other, references included, while compiling.
const NESTING_MAX: usize = 64;

/// An exact decimal: sign, digits without leading or trailing zeros, and the power of ten of
/// the first digit. Enough to compare and to see an integer, for any number of digits.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    /// Value is 0.d1d2d3… × 10^exp.
    exp: i64,
}

impl Decimal {
    fn of(n: &Number) -> Self {
        let text = n.to_string();
        let (negative, text) = text.strip_prefix('-').map_or((false, text.as_str()), |t| (true, t));
        let (mantissa, exp) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        // Beyond a million a number is only “huge” or “tiny”; the clamp keeps every sum in range.
        let far = if exp.starts_with('-') { -EXP_MAX } else { EXP_MAX };
        let exp: i64 = exp.parse().unwrap_or(far).clamp(-EXP_MAX, EXP_MAX);
        let (int, frac) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all: Vec<u8> = int.bytes().chain(frac.bytes()).map(|b| b - b'0').collect();
        let lead = all.iter().take_while(|d| **d == 0).count();
        let tail = all.iter().rev().take_while(|d| **d == 0).count();
        if lead == all.len() {
            return Self { negative: false, digits: vec![], exp: 0 };
        }
        let place = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let exp = exp.saturating_add(place(int.len())).saturating_sub(place(lead));
        Self { negative, digits: all[lead..all.len() - tail].to_vec(), exp }
    }
    fn is_integer(&self) -> bool {
        self.exp >= 0 && usize::try_from(self.exp).is_ok_and(|e| e >= self.digits.len()) || self.digits.is_empty()
    }
    fn cmp(&self, o: &Self) -> std::cmp::Ordering {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let sign = |d: &Self| {
            if d.digits.is_empty() {
                0
            } else if d.negative {
                -1
            } else {
                1
            }
        };
        match sign(self).cmp(&sign(o)) {
            Equal => {}
            other => return other,
        }
        let magnitude = match self.exp.cmp(&o.exp) {
            Equal => self.digits.cmp(&o.digits),
            other => other,
        };
        match (self.negative, magnitude) {
            (false, m) => m,
            (true, Less) => Greater,
            (true, Greater) => Less,
            (true, Equal) => Equal,
        }
    }
    /// True when `self` is a whole multiple of `o` (`multipleOf`), whose digits fit 18.
    fn multiple_of(&self, o: &Self) -> bool {
        if self.digits.is_empty() {
            return true;
        }
        let scale = |d: &Self| d.exp - i64::try_from(d.digits.len()).unwrap_or(0);
        // Neither ends in a zero, so what is finer than its divisor is no multiple of it.
        let Ok(mut power) = u64::try_from(scale(self) - scale(o)) else { return false };
        if o.digits.is_empty() || o.digits.len() > DIVISOR_DIGITS {
            return false;
        }
        let m = o.digits.iter().fold(0_u128, |a, d| a * 10 + u128::from(*d));
        let mut rest = self.digits.iter().fold(0_u128, |a, d| (a * 10 + u128::from(*d)) % m);
        let mut ten = 10 % m;
        while power > 0 {
            if power & 1 == 1 {
                rest = rest * ten % m;
            }
            ten = ten * ten % m;
            power >>= 1;
        }
        rest == 0
    }
    /// One text for all ways of writing the number.
    fn canonical(&self) -> String {
        let digits: String = self.digits.iter().map(|d| char::from(b'0' + d)).collect();
        format!("{}{digits}e{}", if self.negative { "-" } else { "" }, self.exp)
    }
}

/// Digits of a `multipleOf`.
const DIVISOR_DIGITS: usize = 18;

/// One text for all values that are equal by [`same`].
fn canonical(v: &Value, out: &mut String) {
    match v {
        Value::Number(n) => out.push_str(&Decimal::of(n).canonical()),
        Value::Array(a) => {
            out.push('[');
            for v in a {
                canonical(v, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(m) => {
            let sorted: BTreeMap<_, _> = m.iter().collect();
            out.push('{');
            for (k, v) in sorted {
                out.push_str(&Value::from(k.as_str()).to_string());
                out.push(':');
                canonical(v, out);
                out.push(',');
            }
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
}

fn all_differ(a: &[Value]) -> bool {
    let mut seen = BTreeSet::new();
    a.iter().all(|v| {
        let mut text = String::new();
        canonical(v, &mut text);
        seen.insert(text)
    })
}

/// Equality of JSON values with numbers by value: `1` equals `1.0`.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => Decimal::of(a).cmp(&Decimal::of(b)).is_eq(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(k, v)| b.get(k).is_some_and(|w| same(v, w)))
        }
        _ => a == b,
    }
}

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

const NUMBERS: [&str; 5] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const COUNTS: [&str; 6] = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];
const ANNOTATIONS: [&str; 10] = [
    "$schema",
    "$id",
    "$comment",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
];

struct Compiler<'a> {
    root: &'a Value,
    nodes: Vec<Node>,
    by_pointer: BTreeMap<String, usize>,
    properties: usize,
    nesting: usize,
}

fn escape(s: &str) -> String {
    s.replace('~', "~0").replace('/', "~1")
}

impl Schema {
    /// Compiles a schema's text.
    ///
    /// # Errors
    /// [`SchemaError`], naming keyword or pointer.
    pub fn compile(text: &str) -> Result<Self, SchemaError> {
        let root = json::parse(text.as_bytes(), json::SCHEMA)?;
        let mut c = Compiler { root: &root, nodes: vec![], by_pointer: BTreeMap::new(), properties: 0, nesting: 0 };
        c.node(&root, "#")?;
        let nodes = c.nodes;
        // A chain of references that never meets a schema would not end.
        for (i, _) in nodes.iter().enumerate() {
            let (mut at, mut steps) = (i, 0);
            while let Some(next) = nodes[at].reference {
                at = next;
                steps += 1;
                if steps > nodes.len() {
                    let (target, pointer) = ("#".to_owned(), "#".to_owned());
                    return Err(SchemaError::Reference { target, pointer, why: "leads back to itself" });
                }
            }
        }
        let schema = Self { nodes };
        schema.check_cycles()?;
        schema.check_chains()?;
        Ok(schema)
    }

    /// Refuses schemas that apply themselves to the same value for ever.
    fn check_cycles(&self) -> Result<(), SchemaError> {
        // 0 unseen, 1 open, 2 done; edges are those that stay at the same value.
        let mut state = vec![0_u8; self.nodes.len()];
        let mut stack = Vec::new();
        for start in 0..self.nodes.len() {
            if state[start] != 0 {
                continue;
            }
            stack.push((start, false));
            while let Some((i, leaving)) = stack.pop() {
                if leaving {
                    state[i] = 2;
                    continue;
                }
                match state[i] {
                    2 => continue,
                    1 => continue,
                    _ => state[i] = 1,
                }
                stack.push((i, true));
                let n = &self.nodes[i];
                for j in n.reference.iter().chain(&n.any).chain(&n.one).chain(&n.all) {
                    if state[*j] == 1 {
                        let (target, pointer) = ("#".to_owned(), "#".to_owned());
                        return Err(SchemaError::Reference {
                            target,
                            pointer,
                            why: "applies itself to the same value",
                        });
                    }
                    stack.push((*j, false));
                }
            }
        }
        Ok(())
    }

    /// Refuses chains of schemas for one value that are longer than [`CHAIN_MAX`]; there are no
    /// cycles any more when this runs, so every round settles at least one more level.
    fn check_chains(&self) -> Result<(), SchemaError> {
        let mut height = vec![0_usize; self.nodes.len()];
        for _ in 0..=CHAIN_MAX {
            let mut still = true;
            for (i, n) in self.nodes.iter().enumerate() {
                let next = n.reference.iter().chain(&n.any).chain(&n.one).chain(&n.all);
                let h = next.map(|j| height[*j] + 1).max().unwrap_or(0);
                if h > CHAIN_MAX {
                    return Err(SchemaError::TooLarge(CHAIN_MAX, "parts that apply to one value through each other"));
                }
                still &= h == height[i];
                height[i] = h;
            }
            if still {
                return Ok(());
            }
        }
        Err(SchemaError::TooLarge(CHAIN_MAX, "parts that apply to one value through each other"))
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
        let mut out = run.place(0, value, "");
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
        run.formats(0, value, "", each);
        run.work <= WORK_MAX
    }

    /// Every property name that the schema declares somewhere.
    #[must_use]
    pub fn declared_names(&self) -> BTreeSet<&str> {
        self.nodes.iter().flat_map(|n| n.properties.keys().map(String::as_str)).collect()
    }
}

impl Compiler<'_> {
    fn node(&mut self, v: &Value, pointer: &str) -> Result<usize, SchemaError> {
        if let Some(i) = self.by_pointer.get(pointer) {
            return Ok(*i);
        }
        if self.nodes.len() >= NODES_MAX {
            return Err(SchemaError::TooLarge(NODES_MAX, "parts"));
        }
        if self.nesting > NESTING_MAX {
            return Err(SchemaError::TooLarge(NESTING_MAX, "levels"));
        }
        self.nesting += 1;
        let i = self.nodes.len();
        self.nodes.push(Node::default());
        self.by_pointer.insert(pointer.to_owned(), i);
        let mut n = Node::default();
        match v {
            Value::Bool(b) => n.never = !b,
            Value::Object(m) => self.keywords(m, pointer, &mut n)?,
            _ => return Err(bad("(schema)", pointer, "must be an object or true or false")),
        }
        self.nodes[i] = n;
        self.nesting -= 1;
        Ok(i)
    }

    fn keywords(&mut self, m: &Map<String, Value>, pointer: &str, n: &mut Node) -> Result<(), SchemaError> {
        for (key, v) in m {
            let here = |tail: &str| format!("{pointer}/{}{tail}", escape(key));
            let e = |why| bad(key, pointer, why);
            match key.as_str() {
                "type" => {
                    let one = |v: &Value| v.as_str().and_then(Type::parse).ok_or_else(|| e("must name JSON types"));
                    n.types = Some(match v {
                        Value::Array(a) => a.iter().map(one).collect::<Result<_, _>>()?,
                        v => [one(v)?].into(),
                    });
                }
                "properties" => {
                    let Value::Object(p) = v else { return Err(e("must be an object")) };
                    self.properties += p.len();
                    if self.properties > PROPERTIES_MAX {
                        return Err(SchemaError::TooLarge(PROPERTIES_MAX, "properties"));
                    }
                    n.has_properties = true;
                    for (name, s) in p {
                        let i = self.node(s, &here(&format!("/{}", escape(name))))?;
                        n.properties.insert(name.clone(), i);
                    }
                }
                "required" => {
                    let names = v.as_array().ok_or_else(|| e("must be a list of names"))?;
                    let text = |v: &Value| v.as_str().map(str::to_owned).ok_or_else(|| e("must be a list of names"));
                    n.required = names.iter().map(text).collect::<Result<_, _>>()?;
                }
                "additionalProperties" => {
                    if v.is_boolean() {
                        n.closed = *v == Value::Bool(false);
                    } else {
                        n.additional = Some(self.node(v, &here(""))?);
                    }
                }
                "items" => n.items = Some(self.node(v, &here(""))?),
                "prefixItems" => n.prefix = self.list(v, &here(""), &e)?,
                "anyOf" => n.any = self.list(v, &here(""), &e)?,
                "oneOf" => n.one = self.list(v, &here(""), &e)?,
                "allOf" => n.all = self.list(v, &here(""), &e)?,
                "enum" | "const" => {
                    let mut list = match v {
                        Value::Array(a) if key == "enum" => a.clone(),
                        _ if key == "enum" => return Err(e("must be a list")),
                        v => vec![v.clone()],
                    };
                    if let Some(before) = n.allowed.take() {
                        list.retain(|v| before.iter().any(|w| same(v, w)));
                    }
                    n.allowed = Some(list);
                }
                "uniqueItems" => n.unique = v.as_bool().ok_or_else(|| e("must be true or false"))?,
                "pattern" => {
                    let p = v.as_str().ok_or_else(|| e("must be text"))?;
                    let r = regex_lite::RegexBuilder::new(p).size_limit(1 << 18).build();
                    n.pattern = Some((p.to_owned(), r.map_err(|_| e("is not a pattern this validator can run"))?));
                }
                "$ref" => {
                    let target = v.as_str().ok_or_else(|| e("must be text"))?;
                    n.reference = Some(self.reference(target, pointer)?);
                }
                "$defs" | "definitions" => {
                    if !v.is_object() {
                        return Err(e("must be an object"));
                    }
                }
                "format" => n.format = v.as_str().map(str::to_owned),
                k if NUMBERS.contains(&k) => {
                    let Value::Number(num) = v else { return Err(e("must be a number")) };
                    let name = NUMBERS.into_iter().find(|x| *x == k).unwrap_or("minimum");
                    let d = Decimal::of(num);
                    if name == "multipleOf" && (d.negative || !(1..=DIVISOR_DIGITS).contains(&d.digits.len())) {
                        return Err(e("must be above zero, with at most 18 digits"));
                    }
                    n.numbers.push((name, num.clone()));
                }
                k if COUNTS.contains(&k) => {
                    let name = COUNTS.into_iter().find(|x| *x == k).unwrap_or("minLength");
                    n.counts.push((name, v.as_u64().ok_or_else(|| e("must be a whole number"))?));
                }
                k if ANNOTATIONS.contains(&k) => {
                    if k == "title" {
                        n.title = v.as_str().map(str::to_owned);
                    }
                }
                _ => return Err(e("is not supported")),
            }
        }
        Ok(())
    }

    fn list(
        &mut self,
        v: &Value,
        at: &str,
        e: &dyn Fn(&'static str) -> SchemaError,
    ) -> Result<Vec<usize>, SchemaError> {
        let a = v.as_array().filter(|a| !a.is_empty()).ok_or_else(|| e("must be a list of schemas"))?;
        a.iter().enumerate().map(|(i, s)| self.node(s, &format!("{at}/{i}"))).collect()
    }

    fn reference(&mut self, target: &str, pointer: &str) -> Result<usize, SchemaError> {
        let fail = |why| SchemaError::Reference { target: target.to_owned(), pointer: pointer.to_owned(), why };
        let Some(path) = target.strip_prefix('#') else { return Err(fail("is not local, and is never fetched")) };
        let mut v = self.root;
        for part in path.split('/').skip(1) {
            let name = part.replace("~1", "/").replace("~0", "~");
            let next = match v {
                Value::Object(m) => m.get(&name),
                Value::Array(a) => name.parse::<usize>().ok().and_then(|i| a.get(i)),
                _ => None,
            };
            v = next.ok_or_else(|| fail("leads nowhere"))?;
        }
        if !path.is_empty() && !path.starts_with('/') {
            return Err(fail("leads nowhere"));
        }
        let at = format!("#{path}");
        if let Some(i) = self.by_pointer.get(&at) {
            return Ok(*i);
        }
        let v = v.clone();
        self.node(&v, &at)
    }
}

fn bad(keyword: &str, pointer: &str, why: &'static str) -> SchemaError {
    SchemaError::Keyword { keyword: crate::clip::label(keyword, 64).into_owned(), pointer: pointer.to_owned(), why }
}

struct Run<'s> {
    nodes: &'s [Node],
    work: usize,
}

/// Keys that some schema at this place declares.
#[derive(Default)]
struct Declared<'v>(BTreeSet<&'v str>);

impl Run<'_> {
    /// A place of the value: everything that applies, then the keys nobody declared.
    fn place(&mut self, node: usize, v: &Value, pointer: &str) -> Vec<Problem> {
        let mut declared = Declared::default();
        let mut out = self.apply(node, v, pointer, &mut declared);
        if let Value::Object(m) = v {
            for k in m.keys().filter(|k| !declared.0.contains(k.as_str())) {
                out.push(undeclared(k, pointer, &self.names(node)));
            }
        }
        out
    }

    fn formats<'v>(&mut self, node: usize, v: &'v Value, pointer: &str, each: &mut impl FnMut(&str, &str, &'v str)) {
        self.work += 1;
        if self.work > WORK_MAX {
            return;
        }
        let nodes = self.nodes;
        let n = &nodes[node];
        if let (Some(f), Value::String(s)) = (&n.format, v) {
            each(pointer, f, s);
        }
        for i in n.reference.iter().chain(&n.all) {
            self.formats(*i, v, pointer, each);
        }
        for i in n.any.iter().chain(&n.one) {
            if self.apply(*i, v, pointer, &mut Declared::default()).is_empty() {
                self.formats(*i, v, pointer, each);
            }
        }
        match v {
            Value::Object(m) => {
                for (k, v) in m {
                    if let Some(i) = n.properties.get(k).or(n.additional.as_ref()) {
                        self.formats(*i, v, &format!("{pointer}/{}", escape(k)), each);
                    }
                }
            }
            Value::Array(a) => {
                for (k, v) in a.iter().enumerate() {
                    if let Some(i) = n.prefix.get(k).or(n.items.as_ref()) {
                        self.formats(*i, v, &format!("{pointer}/{k}"), each);
                    }
                }
            }
            _ => {}
        }
    }

    fn names(&self, node: usize) -> Vec<&str> {
        let mut at = node;
        while let Some(i) = self.nodes[at].reference {
            at = i;
        }
        self.nodes[at].properties.keys().map(String::as_str).take(32).collect()
    }

    fn apply<'v>(&mut self, node: usize, v: &'v Value, pointer: &str, declared: &mut Declared<'v>) -> Vec<Problem> {
        let mut out = Vec::new();
        self.work += 1;
        let add = |out: &mut Vec<Problem>, kind, expected: String, observed: String| {
            if out.len() < PROBLEMS_MAX {
                out.push(Problem { kind, pointer: pointer.to_owned(), expected, observed });
            }
        };
        if self.work > WORK_MAX {
            add(&mut out, ProblemKind::Value, "a value that can be checked in bounded time".into(), String::new());
            return out;
        }
        let nodes = self.nodes;
        let n = &nodes[node];
        let seen = || brief(v);
        if n.never {
            add(&mut out, ProblemKind::Value, "nothing here".into(), seen());
            return out;
        }
        if let Some(types) = &n.types
            && !types.iter().any(|t| t.fits(v))
        {
            let names: Vec<_> = types.iter().map(|t| t.name()).collect();
            add(&mut out, ProblemKind::Type, names.join(" or "), seen());
            return out;
        }
        if let Some(allowed) = &n.allowed
            && !allowed.iter().any(|a| same(a, v))
        {
            let list: Vec<_> = allowed.iter().take(16).map(brief).collect();
            add(&mut out, ProblemKind::Value, format!("one of {}", list.join(", ")), seen());
        }
        let count = match v {
            Value::String(s) => Some((s.chars().count() as u64, 0, "characters")),
            Value::Array(a) => Some((a.len() as u64, 2, "items")),
            Value::Object(m) => Some((m.len() as u64, 4, "properties")),
            _ => None,
        };
        if let Some((len, first, unit)) = count {
            for (name, bound) in &n.counts {
                if COUNTS[first] == *name && len < *bound {
                    add(&mut out, ProblemKind::Value, format!("at least {bound} {unit}"), len.to_string());
                } else if COUNTS[first + 1] == *name && len > *bound {
                    add(&mut out, ProblemKind::Value, format!("at most {bound} {unit}"), len.to_string());
                }
            }
        }
        match v {
            Value::Number(x) if !n.numbers.is_empty() => {
                let x = Decimal::of(x);
                for (name, bound) in &n.numbers {
                    let b = Decimal::of(bound);
                    let ok = match *name {
                        "minimum" => x.cmp(&b).is_ge(),
                        "maximum" => x.cmp(&b).is_le(),
                        "exclusiveMinimum" => x.cmp(&b).is_gt(),
                        "exclusiveMaximum" => x.cmp(&b).is_lt(),
                        _ => x.multiple_of(&b),
                    };
                    if !ok {
                        add(&mut out, ProblemKind::Value, format!("{name} {bound}"), seen());
                    }
                }
            }
            Value::String(s) => {
                if let Some((p, r)) = &n.pattern
                    && !r.is_match(s)
                {
                    add(&mut out, ProblemKind::Value, format!("text that matches {p}"), seen());
                }
            }
            Value::Array(a) => {
                if n.unique && !all_differ(a) {
                    add(&mut out, ProblemKind::Value, "items that differ".into(), seen());
                }
                for (k, item) in a.iter().enumerate() {
                    if let Some(i) = n.prefix.get(k).or(n.items.as_ref()) {
                        out.extend(self.place(*i, item, &format!("{pointer}/{k}")));
                    }
                }
            }
            Value::Object(m) => {
                for name in n.required.iter().filter(|r| !m.contains_key(*r)) {
                    add(&mut out, ProblemKind::Missing, format!("the argument “{name}”"), "it is missing".into());
                }
                for (k, val) in m {
                    if let Some(i) = n.properties.get(k).or(n.additional.as_ref()) {
                        declared.0.insert(k);
                        out.extend(self.place(*i, val, &format!("{pointer}/{}", escape(k))));
                    } else if n.closed {
                        // Also told by `place`; here it decides between alternatives.
                        out.push(undeclared(k, pointer, &self.names(node)));
                    }
                }
            }
            _ => {}
        }
        for i in n.reference.iter().chain(&n.all) {
            out.extend(self.apply(*i, v, pointer, declared));
        }
        for (list, exactly_one) in [(&n.any, false), (&n.one, true)] {
            if list.is_empty() {
                continue;
            }
            let (mut passed, mut best) = (0, None::<Vec<Problem>>);
            for i in list {
                let mut d = Declared::default();
                let problems = self.apply(*i, v, pointer, &mut d);
                if problems.is_empty() {
                    passed += 1;
                    declared.0.extend(d.0);
                } else if best.as_ref().is_none_or(|b| problems.len() < b.len()) {
                    // Keys a failed branch declares are not told as undeclared on top.
                    declared.0.extend(d.0);
                    best = Some(problems);
                }
            }
            if passed == 0 {
                out.extend(best.unwrap_or_default());
            } else if exactly_one && passed > 1 {
                let p = Problem {
                    kind: ProblemKind::Value,
                    pointer: pointer.to_owned(),
                    expected: "exactly one of the alternatives".into(),
                    observed: format!("{passed} of them fit"),
                };
                out.push(p);
            }
        }
        out.truncate(PROBLEMS_MAX * 4);
        out
    }
}

fn undeclared(key: &str, pointer: &str, names: &[&str]) -> Problem {
    Problem {
        kind: ProblemKind::Undeclared,
        pointer: format!("{pointer}/{}", escape(key)),
        expected: if names.is_empty() { "no arguments".into() } else { names.join(", ") },
        observed: format!("undeclared argument “{}”", crate::clip::label(key, 64)),
    }
}

/// A short form of a value for a message.
fn brief(v: &Value) -> String {
    match v {
        Value::String(s) => format!("“{}”", crate::clip::label(s, 48)),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
        v => crate::clip::label(&v.to_string(), 48).into_owned(),
    }
}

#[cfg(test)]
mod tests;
