//! A value against a schema: the standard's rules, closed at every depth, in bounded work.

use super::decimal::{Decimal, all_differ, same};
use super::{At, COUNTS, Node, PROBLEMS_MAX, Problem, ProblemKind, WORK_MAX};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) struct Run<'s> {
    pub(super) nodes: &'s [Node],
    pub(super) work: usize,
}

/// Keys that some schema at this place declares.
#[derive(Default)]
struct Declared<'v>(BTreeSet<&'v str>);

impl Run<'_> {
    /// A place of the value: everything that applies, then the keys nobody declared.
    pub(super) fn place(&mut self, node: usize, v: &Value, at: &At<'_>) -> Vec<Problem> {
        let mut declared = Declared::default();
        let mut out = self.apply(node, v, at, &mut declared);
        if let Value::Object(m) = v {
            for k in m.keys().filter(|k| !declared.0.contains(k.as_str())) {
                out.push(undeclared(k, at, &self.names(node)));
            }
        }
        out
    }

    pub(super) fn formats<'v>(
        &mut self,
        node: usize,
        v: &'v Value,
        at: &At<'_>,
        each: &mut impl FnMut(&str, &str, &'v str),
    ) {
        if !matches!(v, Value::String(_) | Value::Array(_) | Value::Object(_)) {
            return; // no text in it
        }
        self.work += 1;
        if self.work > WORK_MAX {
            return;
        }
        let nodes = self.nodes;
        let n = &nodes[node];
        if let (Some(f), Value::String(s)) = (&n.format, v) {
            each(&at.to_string(), f, s);
        }
        for i in n.reference.iter().chain(&n.all) {
            self.formats(*i, v, at, each);
        }
        for i in n.any.iter().chain(&n.one) {
            if self.apply(*i, v, at, &mut Declared::default()).is_empty() {
                self.formats(*i, v, at, each);
            }
        }
        match v {
            Value::Object(m) => {
                for (k, v) in m {
                    if let Some(i) = n.properties.get(k).or(n.additional.as_ref()) {
                        self.formats(*i, v, &At::Key(at, k), each);
                    }
                }
            }
            Value::Array(a) => {
                for (k, v) in a.iter().enumerate() {
                    if let Some(i) = n.prefix.get(k).or(n.items.as_ref()) {
                        self.formats(*i, v, &At::Item(at, k), each);
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

    fn apply<'v>(&mut self, node: usize, v: &'v Value, at: &At<'_>, declared: &mut Declared<'v>) -> Vec<Problem> {
        let mut out = Vec::new();
        self.work += 1;
        let add = |out: &mut Vec<Problem>, kind, expected: String, observed: String| {
            if out.len() < PROBLEMS_MAX {
                out.push(Problem { kind, pointer: at.to_string(), expected, observed });
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
            _ if n.counts.is_empty() => None,
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
                        out.extend(self.place(*i, item, &At::Item(at, k)));
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
                        out.extend(self.place(*i, val, &At::Key(at, k)));
                    } else if n.closed {
                        // Also told by `place`; here it decides between alternatives.
                        out.push(undeclared(k, at, &self.names(node)));
                    }
                }
            }
            _ => {}
        }
        for i in n.reference.iter().chain(&n.all) {
            out.extend(self.apply(*i, v, at, declared));
        }
        for (list, exactly_one) in [(&n.any, false), (&n.one, true)] {
            if list.is_empty() {
                continue;
            }
            let (mut passed, mut best) = (0, None::<Vec<Problem>>);
            for i in list {
                let mut d = Declared::default();
                let problems = self.apply(*i, v, at, &mut d);
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
                    pointer: at.to_string(),
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

fn undeclared(key: &str, at: &At<'_>, names: &[&str]) -> Problem {
    Problem {
        kind: ProblemKind::Undeclared,
        pointer: At::Key(at, key).to_string(),
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
