//! From text to nodes: every keyword known, every reference local, every chain ending.

use super::decimal::{DIVISOR_DIGITS, Decimal, same};
use super::{CHAIN_MAX, COUNTS, NODES_MAX, Node, PROPERTIES_MAX, Schema, SchemaError, Type, escape};
use crate::json;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Schemas inside each other, references included, while compiling.
const NESTING_MAX: usize = 64;

const NUMBERS: [&str; 5] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
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

pub(super) fn compile(text: &str) -> Result<Schema, SchemaError> {
    let root = json::parse(text.as_bytes(), json::SCHEMA)?;
    let mut c = Compiler { root: &root, nodes: vec![], by_pointer: BTreeMap::new(), properties: 0, nesting: 0 };
    c.node(&root, "#")?;
    let schema = Schema { nodes: c.nodes };
    if let Some(i) = schema.circle() {
        let pointer = c.by_pointer.into_iter().find(|(_, n)| *n == i).map_or_else(String::new, |(p, _)| p);
        return Err(SchemaError::Reference {
            target: pointer.clone(),
            pointer,
            why: "applies itself to the same value",
        });
    }
    schema.check_chains()?;
    Ok(schema)
}

impl Schema {
    /// A schema that applies itself to the same value for ever, if there is one.
    fn circle(&self) -> Option<usize> {
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
                        return Some(*j);
                    }
                    stack.push((*j, false));
                }
            }
        }
        None
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
                    if name == "multipleOf" && (d.negative || !(1..=DIVISOR_DIGITS).contains(&d.len())) {
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
