//! What was found, as plain objects of the page.

use instructions::{ConventionSet, Projection};
use js_sys::{Array, Error, Reflect};
use kernel::Refusal;
use serde::Serialize;
use skills::diagnostic::Diagnostic;
use skills::packages::{Activated, Packages, Verdict};
use wasm_bindgen::JsValue;

/// A refusal as an error of the page, with its parts as properties.
pub(crate) fn thrown(refusal: &Refusal) -> JsValue {
    let error = Error::new(&refusal.plain());
    error.set_name("Refusal");
    for (key, value) in [
        ("code", &*refusal.code),
        ("subject", &*refusal.subject),
        ("expected", &*refusal.expected),
        ("observed", &*refusal.observed),
    ] {
        // A plain object of ours takes every property.
        let _ = Reflect::set(&error, &key.into(), &value.into());
    }
    error.into()
}

fn plain<T: Serialize + ?Sized>(value: &T) -> Result<JsValue, JsValue> {
    value
        .serialize(&serde_wasm_bindgen::Serializer::json_compatible().serialize_missing_as_null(false))
        .map_err(JsValue::from)
}

fn list<T: Serialize>(values: impl Iterator<Item = T>) -> Result<Array, JsValue> {
    values.map(|v| plain(&v)).collect()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Finding<'a> {
    place: Option<&'a str>,
    code: &'static str,
    severity: String,
    line: Option<u32>,
    column: Option<u32>,
    cause: &'a str,
    fix: &'a str,
}

fn finding<'a>(place: Option<&'a str>, d: &'a Diagnostic) -> Finding<'a> {
    Finding {
        place,
        code: d.code.name(),
        severity: format!("{:?}", d.severity),
        line: d.at.map(|at| at.line),
        column: d.at.map(|at| at.column),
        cause: &d.cause,
        fix: &d.fix,
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    name: &'a str,
    description: &'a str,
    compatibility: Option<&'a str>,
    verdict: Verdict,
    diagnostics: Vec<Finding<'a>>,
}

pub(crate) fn catalog(found: &Packages) -> Result<Array, JsValue> {
    list(found.catalog().iter().map(|e| Row {
        name: &e.name,
        description: &e.description,
        compatibility: e.compatibility.as_deref(),
        verdict: e.verdict,
        diagnostics: e.diagnostics.iter().map(|d| finding(None, d)).collect(),
    }))
}

pub(crate) fn diagnostics(found: &Packages) -> Result<Array, JsValue> {
    list(found.diagnostics().iter().map(|t| finding(Some(&t.place), &t.diagnostic)))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct From<'a> {
    root: String,
    path: &'a str,
    bytes: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Skill<'a> {
    name: &'a str,
    body: &'a str,
    content_hash: String,
    provenance: From<'a>,
    requested_tool_hints: &'a [String],
    requested_tool_hints_are_authority: bool,
    clean: bool,
    version: Option<&'a str>,
}

pub(crate) fn activated(skill: &Activated) -> Result<JsValue, JsValue> {
    let from = skill.provenance();
    plain(&Skill {
        name: skill.name(),
        body: skill.text(),
        content_hash: skill.digest().hex(),
        provenance: From {
            root: format!("{}/skills", from.root.vendor()),
            path: from.path.as_str(),
            bytes: from.bytes,
        },
        requested_tool_hints: skill.requested_tool_hints(),
        requested_tool_hints_are_authority: skill.requested_tool_hints_are_authority(),
        clean: skill.is_clean(),
        version: skill.manifest().version(),
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Target<'a> {
    target: &'a str,
    pattern: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    source: &'a str,
    family: &'static str,
    text: &'a str,
    content_hash: String,
    matched: Vec<Target<'a>>,
    why: String,
    kept: usize,
    total: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Omitted<'a> {
    path: &'a str,
    code: &'static str,
    reason: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Set<'a> {
    blocks: Vec<Told<'a>>,
    omissions: Vec<Omitted<'a>>,
    combined_hash: String,
    truncated: bool,
    targets: Vec<&'a str>,
    budget: usize,
    used: usize,
}

#[derive(Serialize)]
struct Texts {
    blocks: Vec<String>,
    truncated: bool,
}

pub(crate) fn conventions(set: ConventionSet, metadata: bool) -> Result<JsValue, JsValue> {
    let set = match set.project(metadata) {
        Projection::Text { blocks, truncated } => return plain(&Texts { blocks, truncated }),
        Projection::Full(set) => set,
    };
    plain(&Set {
        blocks: set
            .blocks
            .iter()
            .map(|b| Told {
                source: b.source.as_str(),
                family: b.family.title(),
                text: &b.text,
                content_hash: b.digest.hex(),
                matched: b
                    .matched
                    .iter()
                    .map(|m| Target { target: m.target.as_str(), pattern: m.pattern.as_deref() })
                    .collect(),
                why: b.why(),
                kept: b.kept,
                total: b.total,
            })
            .collect(),
        omissions: set
            .omissions
            .iter()
            .map(|o| Omitted { path: o.path.as_str(), code: o.reason.code(), reason: o.reason.to_string() })
            .collect(),
        combined_hash: set.combined_digest.hex(),
        truncated: set.truncated,
        targets: set.targets.iter().map(kernel::mount::MountPath::as_str).collect(),
        budget: set.budget,
        used: set.used,
    })
}
