//! Tools: who holds the schemas (`ToolDriver`), who lets a call through (`ToolRouter`), and
//! what a result is (`UntrustedObservation`).
//!
//! `ToolRouter::route` is a total function over bytes. Its checks run in the order of
//! engine.md §2.7 and the first that fails is the answer.

use crate::authority::{Confirmation, TurnGrant};
use crate::ids::{AppId, Digest, OperationId, PackageId, Rev, ToolName, TurnKey};
use crate::json::{self, JsonError};
use crate::mount::MountPath;
use crate::refusal::Refusal;
use crate::registry::{AppRegistry, PackageManager};
use crate::schema::{At, PROBLEMS_MAX, Problem, ProblemKind, Schema, SchemaError};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Tools registered at most, and offered in one turn at most (engine.md §2.12).
pub const TOOLS_MAX: usize = 512;
/// Tools offered in one turn at most.
pub const OFFERED_MAX: usize = 64;
/// Longest description, in bytes.
pub const DESCRIPTION_MAX: usize = 2048;
/// Bytes of a result that are kept.
pub const RESULT_KEPT: usize = 1024 * 1024;
/// Bytes of a result that go into a model's context at once.
pub const RESULT_CONTEXT: usize = 32 * 1024;

/// What a tool does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ToolClass {
    /// Computes from its arguments alone.
    Pure,
    /// Reads.
    Read,
    /// Changes something that stays on this machine.
    Write,
    /// Reaches outside, or cannot be undone.
    External,
}

/// How much care a call needs. A class has a floor below which no descriptor gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Danger {
    None,
    Low,
    High,
}

impl ToolClass {
    /// It changes something, here or outside.
    #[must_use]
    pub fn mutates(self) -> bool {
        self >= Self::Write
    }
    /// The least danger of the class.
    #[must_use]
    pub fn floor(self) -> Danger {
        match self {
            Self::Pure | Self::Read => Danger::None,
            Self::Write => Danger::Low,
            Self::External => Danger::High,
        }
    }
}

/// A tool as its owner declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSource {
    /// Name.
    pub name: ToolName,
    /// Owner.
    pub owner: PackageId,
    /// Name for people.
    pub title: String,
    /// What it does, for people and models.
    pub description: String,
    /// JSON Schema of its arguments.
    pub schema: String,
    /// Class.
    pub class: ToolClass,
    /// Declared danger; the class's floor holds.
    pub danger: Danger,
    /// Capabilities a turn must hold.
    pub capabilities: BTreeSet<String>,
    /// What must be available (a mount, a window).
    pub affordances: BTreeSet<String>,
}

/// A registered tool.
#[derive(Clone, Debug)]
pub struct ToolDescriptor {
    /// As declared.
    pub source: ToolSource,
    /// Its compiled schema.
    pub schema: Schema,
    /// Digest of everything declared: a call binds it (I-140).
    pub digest: Digest,
    /// Revision of its last change.
    pub rev: Rev,
}

impl ToolDescriptor {
    /// Danger with the class's floor.
    #[must_use]
    pub fn danger(&self) -> Danger {
        self.source.danger.max(self.source.class.floor())
    }
}

fn digest_of(s: &ToolSource) -> Digest {
    let list = |set: &BTreeSet<String>| set.iter().map(|c| format!("{}:{c}", c.len())).collect::<String>();
    Digest::of_parts(&[
        s.name.as_str().as_bytes(),
        s.owner.as_str().as_bytes(),
        s.title.as_bytes(),
        s.description.as_bytes(),
        s.schema.as_bytes(),
        format!("{:?}{:?}", s.class, s.danger).as_bytes(),
        list(&s.capabilities).as_bytes(),
        list(&s.affordances).as_bytes(),
    ])
}

/// The only holder of stable tool schemas.
#[derive(Clone, Debug, Default)]
pub struct ToolDriver {
    pub(crate) map: BTreeMap<ToolName, ToolDescriptor>,
}

impl ToolDriver {
    /// One tool.
    #[must_use]
    pub fn get(&self, name: &ToolName) -> Option<&ToolDescriptor> {
        self.map.get(name)
    }
    /// All, in name order.
    pub fn iter(&self) -> impl Iterator<Item = &ToolDescriptor> {
        self.map.values()
    }
    pub(crate) fn describe(source: ToolSource, rev: Rev) -> Result<ToolDescriptor, ToolRefusal> {
        let schema = Schema::compile(&source.schema).map_err(|error| ToolRefusal::SchemaInvalid { error })?;
        let source = ToolSource {
            description: crate::clip::clip(&source.description, DESCRIPTION_MAX).into_owned(),
            title: crate::clip::label(&source.title, crate::registry::TITLE_MAX).into_owned(),
            ..source
        };
        let digest = digest_of(&source);
        Ok(ToolDescriptor { source, schema, digest, rev })
    }
}

/// A tool as a caller knows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ToolRef {
    /// Name.
    pub name: ToolName,
    /// Digest of the descriptor that was offered.
    pub digest: Digest,
}

/// One call: a name, raw bytes, and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// Which tool, as it was offered.
    pub tool: ToolRef,
    /// Arguments as they came, unread.
    pub args: Vec<u8>,
    /// Turn.
    pub turn: TurnKey,
    /// Operation of a mutating call.
    pub operation: Option<OperationId>,
}

/// Refusals of a call (engine.md §2.7).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum ToolRefusal {
    #[error("there is no tool {0}")]
    ToolUnknown(ToolName),
    #[error("the tool {0} changed since it was offered")]
    DescriptorDrift(ToolName),
    #[error("the tool {tool} belongs to the package {package}, which is missing or switched off")]
    OwnerPackageAbsent { tool: ToolName, package: PackageId },
    #[error("the tool {tool} is not declared to the app {app}")]
    ToolNotDeclaredToApp { tool: ToolName, app: AppId },
    #[error("the tool {0} is not permitted here")]
    ToolNotPermitted(ToolName),
    #[error("the tool {0} was not offered in this turn")]
    ToolNotOffered(ToolName),
    #[error("the turn does not hold the capability {capability} that {tool} needs")]
    CapabilityMissing { tool: ToolName, capability: String },
    #[error("{tool} needs {}, and there is none now", needed(.affordance))]
    AffordanceMissing { tool: ToolName, affordance: String },
    #[error("the arguments are too large: {0}")]
    ArgsTooLarge(JsonError),
    #[error("the arguments are too deep: {0}")]
    ArgsTooDeep(JsonError),
    #[error("{0}")]
    ArgsDuplicateKey(JsonError),
    #[error("the arguments cannot be read: {0}")]
    ArgsSyntax(JsonError),
    /// One or more fields are wrong; the first decides the code.
    #[error("{}", list(.0))]
    Args(Vec<Problem>),
    #[error("the schema is withheld: {error}")]
    SchemaInvalid { error: SchemaError },
    #[error("the turn {0} is not the one of this grant")]
    WrongTurn(TurnKey),
    #[error("the approval is for something else")]
    WrongConfirmation,
    #[error("there is room for {TOOLS_MAX} tools")]
    TooManyTools,
}

/// An affordance in words.
fn needed(affordance: &str) -> &str {
    if affordance == "mount" { "a mounted folder" } else { affordance }
}

fn list(problems: &[Problem]) -> String {
    let one = |p: &Problem| {
        let at = p.pointer.trim_start_matches('/');
        let at = if at.is_empty() { String::new() } else { format!("{at}: ") };
        match p.kind {
            ProblemKind::Undeclared => format!("{}; it takes {}", p.observed, p.expected),
            _ if p.observed.is_empty() => format!("{at}needed is {}", p.expected),
            _ => format!("{at}{}, where {} is needed", p.observed, p.expected),
        }
    };
    problems.iter().map(one).collect::<Vec<_>>().join("; ")
}

impl ToolRefusal {
    /// The spec's name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::ToolUnknown(_) => "ToolUnknown",
            Self::DescriptorDrift(_) => "DescriptorDrift",
            Self::OwnerPackageAbsent { .. } => "OwnerPackageAbsent",
            Self::ToolNotDeclaredToApp { .. } => "ToolNotDeclaredToApp",
            Self::ToolNotPermitted(_) => "ToolNotPermitted",
            Self::ToolNotOffered(_) => "ToolNotOffered",
            Self::CapabilityMissing { .. } => "CapabilityMissing",
            Self::AffordanceMissing { .. } => "AffordanceMissing",
            Self::ArgsTooLarge(_) => "ArgsTooLarge",
            Self::ArgsTooDeep(_) => "ArgsTooDeep",
            Self::ArgsDuplicateKey(_) => "ArgsDuplicateKey",
            Self::ArgsSyntax(_) => "ArgsSyntax",
            Self::Args(p) => match p.first().map(|p| p.kind) {
                Some(ProblemKind::Undeclared) => "ArgUndeclared",
                Some(ProblemKind::Missing) => "ArgMissing",
                Some(ProblemKind::Type) => "ArgType",
                Some(ProblemKind::Suspicious) => "ArgSuspicious",
                _ => "ArgValue",
            },
            Self::SchemaInvalid { .. } => "SchemaInvalid",
            Self::WrongTurn(_) => "WrongTurn",
            Self::WrongConfirmation => "WrongConfirmation",
            Self::TooManyTools => "TooManyTools",
        }
    }
}

impl From<ToolRefusal> for Refusal {
    fn from(e: ToolRefusal) -> Self {
        match &e {
            ToolRefusal::Args(problems) => match problems.as_slice() {
                [p] => Self::new(e.code(), p.pointer.rsplit('/').next().unwrap_or(""), &p.expected, &p.observed),
                _ => Self::new(e.code(), "The arguments", "", &e.to_string()),
            },
            _ => Self::new(e.code(), "The tool call", "", &e.to_string()),
        }
    }
}

impl From<JsonError> for ToolRefusal {
    fn from(e: JsonError) -> Self {
        match e {
            JsonError::TooLarge { .. } => Self::ArgsTooLarge(e),
            JsonError::TooDeep(_) => Self::ArgsTooDeep(e),
            JsonError::DuplicateKey(_) => Self::ArgsDuplicateKey(e),
            JsonError::Syntax { .. } => Self::ArgsSyntax(e),
        }
    }
}

/// A call that may be performed. Made only by the router.
#[derive(Debug, PartialEq, Eq)]
pub struct Permit {
    tool: ToolRef,
    class: ToolClass,
    args: Value,
    turn: TurnKey,
    operation: Option<OperationId>,
}

impl Permit {
    /// Which tool.
    #[must_use]
    pub fn tool(&self) -> &ToolRef {
        &self.tool
    }
    /// What it does.
    #[must_use]
    pub fn class(&self) -> ToolClass {
        self.class
    }
    /// Checked arguments.
    #[must_use]
    pub fn args(&self) -> &Value {
        &self.args
    }
    /// Its turn.
    #[must_use]
    pub fn turn(&self) -> &TurnKey {
        &self.turn
    }
    /// Its operation.
    #[must_use]
    pub fn operation(&self) -> Option<&OperationId> {
        self.operation.as_ref()
    }
}

/// What the router lets through.
#[derive(Debug, PartialEq, Eq)]
pub enum Dispatch {
    /// May run at once.
    Read(Permit),
    /// Waits for a person's approval of exactly `digest`.
    NeedsConfirmation {
        /// The call, held.
        held: Held,
        /// Danger to show.
        danger: Danger,
    },
}

/// A mutating call that waits. [`Held::redeem`] is its only way on.
#[derive(Debug, PartialEq, Eq)]
pub struct Held {
    permit: Permit,
    digest: Digest,
}

impl Held {
    /// The checked arguments, to show.
    #[must_use]
    pub fn args(&self) -> &Value {
        &self.permit.args
    }
    /// Digest of the call: tool, descriptor, arguments, turn and operation.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
    /// Digest of a review that shows this call together with the state it was shown against
    /// (for a file: its bytes before and after).
    #[must_use]
    pub fn bind(&self, shown: &[&[u8]]) -> Digest {
        let mut parts: Vec<&[u8]> = vec![&self.digest.0];
        parts.extend(shown);
        Digest::of_parts(&parts)
    }
    /// Lets the call run if the approval is for exactly the review `bound` (from [`Held::bind`]).
    ///
    /// # Errors
    /// `WrongConfirmation`, with the call handed back; the approval is used up either way.
    #[allow(clippy::result_large_err)] // the call goes back to its card, once a person's click
    pub fn redeem(self, bound: Digest, approval: Confirmation) -> Result<Permit, (ToolRefusal, Self)> {
        if approval.digest() == bound { Ok(self.permit) } else { Err((ToolRefusal::WrongConfirmation, self)) }
    }
}

/// Decides about calls. Borrows the live registries; holds nothing itself.
#[derive(Clone, Copy, Debug)]
pub struct ToolRouter<'k> {
    pub(crate) driver: &'k ToolDriver,
    pub(crate) packages: &'k PackageManager,
    pub(crate) apps: &'k AppRegistry,
    pub(crate) denied: &'k BTreeSet<ToolName>,
}

impl ToolRouter<'_> {
    /// The tool, if it is live, owned by a present enabled package, declared to `app` and
    /// permitted: what `/tool` and every offer need (I-155).
    ///
    /// # Errors
    /// The first check that fails, in the router's order.
    pub fn eligible(&self, name: &ToolName, app: &AppId) -> Result<&ToolDescriptor, ToolRefusal> {
        let d = self.driver.get(name).ok_or_else(|| ToolRefusal::ToolUnknown(name.clone()))?;
        let package = &d.source.owner;
        if !self.packages.is_enabled(package) {
            return Err(ToolRefusal::OwnerPackageAbsent { tool: name.clone(), package: package.clone() });
        }
        if !self.apps.get(app).is_some_and(|a| a.tools.contains(name)) {
            return Err(ToolRefusal::ToolNotDeclaredToApp { tool: name.clone(), app: app.clone() });
        }
        if self.denied.contains(name) {
            return Err(ToolRefusal::ToolNotPermitted(name.clone()));
        }
        Ok(d)
    }

    /// Lets a call through or says why not. Total over bytes (I-145).
    ///
    /// # Errors
    /// The first check that fails, in the order of engine.md §2.7.
    pub fn route(&self, call: &ToolCall, app: &AppId, grant: &TurnGrant) -> Result<Dispatch, ToolRefusal> {
        let name = &call.tool.name;
        let d = self.driver.get(name).ok_or_else(|| ToolRefusal::ToolUnknown(name.clone()))?;
        if d.digest != call.tool.digest {
            return Err(ToolRefusal::DescriptorDrift(name.clone()));
        }
        self.eligible(name, app)?;
        if *grant.turn() != call.turn {
            return Err(ToolRefusal::WrongTurn(call.turn.clone()));
        }
        if !grant.offered().contains(&(name.clone(), d.digest)) {
            return Err(ToolRefusal::ToolNotOffered(name.clone()));
        }
        if let Some(c) = d.source.capabilities.difference(grant.capabilities()).next() {
            return Err(ToolRefusal::CapabilityMissing { tool: name.clone(), capability: c.clone() });
        }
        if let Some(a) = d.source.affordances.difference(grant.affordances()).next() {
            return Err(ToolRefusal::AffordanceMissing { tool: name.clone(), affordance: a.clone() });
        }
        let args = check_args(&d.schema, &call.args)?;
        let permit = Permit {
            tool: call.tool.clone(),
            class: d.source.class,
            args,
            turn: call.turn.clone(),
            operation: call.operation.clone(),
        };
        let danger = d.danger();
        if danger == Danger::None {
            return Ok(Dispatch::Read(permit));
        }
        let operation = call.operation.as_ref().map(ToString::to_string).unwrap_or_default();
        let digest = Digest::of_parts(&[
            name.as_str().as_bytes(),
            &d.digest.0,
            &call.args,
            call.turn.to_string().as_bytes(),
            operation.as_bytes(),
        ]);
        Ok(Dispatch::NeedsConfirmation { held: Held { permit, digest }, danger })
    }
}

/// Reads and checks raw arguments: limits, duplicates, declared names, types, suspicious names
/// and values.
///
/// # Errors
/// The first kind that fails; all problems of that reading are told together.
pub fn check_args(schema: &Schema, bytes: &[u8]) -> Result<Value, ToolRefusal> {
    let value = json::parse(bytes, json::ARGS)?;
    if !value.is_object() {
        return Err(ToolRefusal::Args(vec![Problem {
            kind: ProblemKind::Type,
            pointer: String::new(),
            expected: "an object".into(),
            observed: "something else".into(),
        }]));
    }
    let mut problems = schema.check(&value);
    if problems.is_empty() {
        let mut found = |pointer: &str, expected: &str, text: &str| {
            if problems.len() < PROBLEMS_MAX {
                problems.push(Problem {
                    kind: ProblemKind::Suspicious,
                    pointer: pointer.to_owned(),
                    expected: expected.to_owned(),
                    observed: format!("“{}”", crate::clip::label(text, 64).escape_debug()),
                });
            }
        };
        let mut outside = Vec::new();
        let all = schema.formats(&value, &mut |pointer, format, text| match suspicious_value(format, text) {
            Some((expected, None)) => found(pointer, expected, text),
            Some((expected, Some(why))) => outside.push((pointer.to_owned(), expected, why)),
            None => {}
        });
        if !all {
            found("", "arguments that can be checked in bounded time", "");
        }
        suspicious_names_and_numbers(&value, &At::Root, &mut |at, expected, text| {
            found(&at.to_string(), expected, text);
        });
        let room = PROBLEMS_MAX.saturating_sub(problems.len());
        problems.extend(outside.into_iter().take(room).map(|(pointer, expected, why)| Problem {
            kind: ProblemKind::Suspicious,
            pointer,
            expected: expected.to_owned(),
            observed: why,
        }));
    }
    let declared = schema.declared_names();
    for p in &mut problems {
        let name = p.pointer.rsplit('/').next().unwrap_or("");
        if p.kind == ProblemKind::Undeclared
            && let Some(why) = suspicious_name(name, &declared)
        {
            p.kind = ProblemKind::Suspicious;
            p.observed = format!("{}, a name {why}", p.observed);
        }
    }
    if problems.is_empty() { Ok(value) } else { Err(ToolRefusal::Args(problems)) }
}

/// Letters that look like ASCII ones, enough to tell a look-alike of a declared name.
fn skeleton(name: &str) -> String {
    let fold = |c: char| match c {
        'а' | 'ａ' => 'a',
        'е' | 'ｅ' => 'e',
        'о' | 'ο' | 'ｏ' => 'o',
        'р' => 'p',
        'с' => 'c',
        'х' => 'x',
        'у' => 'y',
        'і' | 'ı' | 'l' | '1' => 'i',
        '0' => 'o',
        c => c,
    };
    name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).map(fold).collect()
}

fn suspicious_name(name: &str, declared: &BTreeSet<&str>) -> Option<&'static str> {
    // The last one is how `serde_json` spells an exact number: read again, the object would be one.
    if matches!(name, "__proto__" | "prototype" | "constructor" | "$serde_json::private::Number") {
        return Some("with a meaning of its own in scripts");
    }
    if !name.is_ascii() || name.chars().any(char::is_control) {
        let twin = declared.iter().any(|d| skeleton(d) == skeleton(name));
        return Some(if twin { "that looks like a declared one" } else { "with characters that names do not have" });
    }
    let twin = declared.iter().any(|d| *d != name && skeleton(d) == skeleton(name));
    twin.then_some("that differs from a declared one only in case, underscores or look-alike letters")
}

/// What is suspicious wherever it stands: names of a declared map that no name should have, and
/// numbers beyond every finite one.
fn suspicious_names_and_numbers(v: &Value, at: &At<'_>, found: &mut impl FnMut(&At<'_>, &str, &str)) {
    match v {
        // Only an exponent makes a number of so few digits infinite.
        Value::Number(n)
            if n.as_str().bytes().any(|b| matches!(b, b'e' | b'E')) && n.as_f64().is_none_or(f64::is_infinite) =>
        {
            found(at, "a finite number", n.as_str());
        }
        Value::Array(a) => {
            for (k, v) in a.iter().enumerate() {
                suspicious_names_and_numbers(v, &At::Item(at, k), found);
            }
        }
        Value::Object(m) => {
            for (k, v) in m {
                let label = crate::clip::label(k, 64);
                let at = At::Key(at, &label);
                if let Some(why) = suspicious_name(k, &BTreeSet::new()) {
                    found(&at, &format!("another name than one {why}"), k);
                }
                suspicious_names_and_numbers(v, &at, found);
            }
        }
        _ => {}
    }
}

/// What a value of a format would have to be, and for a path why it is not.
fn suspicious_value(format: &str, text: &str) -> Option<(&'static str, Option<String>)> {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    match format {
        "path" => {
            let inside = text.strip_prefix("/mnt/").map_or(text, |r| r.split_once('/').map_or("", |(_, r)| r));
            MountPath::parse(inside).err().map(|e| (crate::mount::PATH_NEEDED, Some(e.to_string())))
        }
        "identifier" | "command" => text.chars().any(hidden).then_some(("text without hidden characters", None)),
        _ => None,
    }
}

/// Where a result came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObservationOrigin {
    /// A tool.
    Tool(ToolName),
    /// The kernel itself, telling of a refusal.
    Refusal,
}

/// A result of a tool, errors included: data, never an instruction (I-142). It has no
/// conversion into a grant, a confirmation, a tool or memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UntrustedObservation {
    bytes: Vec<u8>,
    total: usize,
    digest: Digest,
    origin: ObservationOrigin,
}

impl UntrustedObservation {
    /// Keeps at most [`RESULT_KEPT`] bytes; the digest is of all.
    #[must_use]
    pub fn new(bytes: &[u8], origin: ObservationOrigin) -> Self {
        let kept = if bytes.len() <= RESULT_KEPT {
            bytes.to_vec()
        } else {
            match std::str::from_utf8(bytes) {
                Ok(t) => bytes[..crate::clip::boundary(t, RESULT_KEPT)].to_vec(),
                Err(_) => bytes[..RESULT_KEPT].to_vec(),
            }
        };
        Self { bytes: kept, total: bytes.len(), digest: Digest::of(bytes), origin }
    }
    /// What was kept.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
    /// Size of the whole result.
    #[must_use]
    pub fn total(&self) -> usize {
        self.total
    }
    /// Digest of the whole result.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
    /// Origin.
    #[must_use]
    pub fn origin(&self) -> &ObservationOrigin {
        &self.origin
    }
    /// Something was left out of what is kept.
    #[must_use]
    pub fn truncated(&self) -> bool {
        self.bytes.len() < self.total
    }
    /// At most `max` bytes as text, with kept and total sizes where something is missing.
    #[must_use]
    pub fn text(&self, max: usize) -> String {
        let (mut text, kept) = crate::clip::clip_bytes(&self.bytes, max);
        if kept < self.total {
            text.push_str(&format!(" … ({kept}/{} bytes)", self.total));
        }
        text
    }
}

/// What a review says of a call. It explains; it cannot approve (I-143).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// Danger.
    pub risk: Danger,
    /// In plain words.
    pub explanation: String,
    /// The arguments fit the schema.
    pub arg_shape_ok: bool,
}

/// Explains calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct ToolActionReview;

impl ToolActionReview {
    /// What the call would do, in plain words.
    #[must_use]
    pub fn review(self, descriptor: Option<&ToolDescriptor>, call: &ToolCall) -> Review {
        let Some(d) = descriptor else {
            let explanation = format!("There is no tool {}.", call.tool.name);
            return Review { risk: Danger::High, explanation, arg_shape_ok: false };
        };
        let does = match d.source.class {
            ToolClass::Pure => "computes from its arguments alone",
            ToolClass::Read => "reads and changes nothing",
            ToolClass::Write => "changes something on this machine",
            ToolClass::External => "reaches outside this machine or cannot be undone",
        };
        Review {
            risk: d.danger(),
            explanation: format!("The tool “{}” {does}.", d.source.title),
            arg_shape_ok: check_args(&d.schema, &call.args).is_ok(),
        }
    }
}

#[cfg(test)]
mod tests;
