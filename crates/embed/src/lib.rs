//! The engine of `skills` and `instructions` for pages that embed it: two functions over any object
//! that can list a folder and read a file.
//!
//! The one choice behind the rest: nothing here knows a rule. The crates ask for what they need
//! (`kernel::mount::Need`), the page's object answers, and what they found is told in plain objects. Nothing is
//! ever written, run or approved through this module.

mod storage;
mod tell;

use instructions::{Limits, Loader, Targets};
use js_sys::Array;
use kernel::Refusal;
use kernel::mount::{Reply, Step};
use serde::Deserialize;
use skills::packages::{Discovery, PackageRefusal, Packages};
use storage::{Place, Reader};
use wasm_bindgen::prelude::*;

/// What TypeScript is told; the classes and functions below are told by `wasm-bindgen` itself.
#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("types.d.ts");

#[wasm_bindgen]
extern "C" {
    /// An object of the page with `list(path)` and `read(path)`.
    #[wasm_bindgen(typescript_type = "WorkspaceStorage")]
    pub type Storage;
    /// `{ workspaceRoot }`.
    #[wasm_bindgen(typescript_type = "DiscoverOptions")]
    pub type DiscoverOptions;
    /// `{ targets, metadata, workspaceRoot }`.
    #[wasm_bindgen(typescript_type = "ConventionOptions")]
    pub type ConventionOptions;
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Discover {
    workspace_root: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Conventions {
    targets: Vec<String>,
    metadata: bool,
    workspace_root: String,
}

/// Answers a stepper until it has ended.
async fn drive<T>(reader: &Reader, mut step: impl FnMut(Vec<Reply>) -> Step<T>) -> T {
    let mut replies = Vec::new();
    loop {
        match step(replies) {
            Step::Done(done) => return done,
            Step::Need(needs) => {
                replies = Vec::with_capacity(needs.len());
                for need in &needs {
                    replies.push(reader.perform(need).await);
                }
            }
        }
    }
}

fn options<T: for<'de> Deserialize<'de>>(given: JsValue) -> Result<T, JsValue> {
    serde_wasm_bindgen::from_value(given).map_err(|e| {
        tell::thrown(&Refusal::new("OptionsInvalid", "The options", "an object as documented", &e.to_string()))
    })
}

/// Looks for skill packages in the five roots of a workspace (engine.md §2.5). Nothing of a package
/// is run, imported, enabled or approved by this.
///
/// # Errors
/// Throws an `Error` with `code`, `subject`, `expected` and `observed` where the options or the
/// storage are not what is documented. A folder that cannot be read is a diagnostic.
#[wasm_bindgen(js_name = discoverWorkspaceSkillPackages)]
pub async fn discover(storage: Storage, given: DiscoverOptions) -> Result<SkillPackages, JsValue> {
    let Discover { workspace_root } = options(given.into())?;
    let place = Place::parse(&workspace_root).map_err(|e| tell::thrown(&e))?;
    let reader = Reader::new(storage, place).map_err(|e| tell::thrown(&e))?;
    let mut look = Discovery::new(&reader.place.root);
    let found = drive(&reader, |replies| look.step(replies)).await;
    Ok(SkillPackages { reader, found })
}

/// Loads the instructions that apply to some files of a workspace (engine.md §2.2), broad to
/// specific. They are evidence: nothing in them is followed, imported or run here.
///
/// # Errors
/// As [`discover`]; also where a target lies outside the workspace or there are too many.
#[wasm_bindgen(js_name = loadWorkspaceConventions, unchecked_return_type = "WorkspaceConventions")]
pub async fn conventions(storage: Storage, given: ConventionOptions) -> Result<JsValue, JsValue> {
    let Conventions { targets, metadata, workspace_root } = options(given.into())?;
    let place = Place::parse(&workspace_root).map_err(|e| tell::thrown(&e))?;
    let reader = Reader::new(storage, place).map_err(|e| tell::thrown(&e))?;
    let place = &reader.place;
    let targets: Vec<&str> = targets.iter().map(|t| place.below(t)).collect();
    let targets = Targets::resolve(Some(&place.mount), &place.root, &targets).map_err(|e| tell::thrown(&e.into()))?;
    let mut load = Loader::new(targets, Limits::default());
    let set = drive(&reader, |replies| load.step(replies)).await.map_err(|e| tell::thrown(&e.into()))?;
    tell::conventions(set, metadata)
}

/// The packages of a workspace as one look found them.
#[wasm_bindgen]
#[derive(Debug)]
pub struct SkillPackages {
    reader: Reader,
    found: Packages,
}

#[wasm_bindgen]
impl SkillPackages {
    /// Names and descriptions; no body, hash, path or listing (I-129).
    ///
    /// # Errors
    /// None in practice: plain values become plain objects.
    #[wasm_bindgen(getter, unchecked_return_type = "SkillCatalogEntry[]")]
    pub fn catalog(&self) -> Result<Array, JsValue> {
        tell::catalog(&self.found)
    }

    /// What is wrong with what was found, each with its place.
    ///
    /// # Errors
    /// As [`Self::catalog`].
    #[wasm_bindgen(getter, unchecked_return_type = "SkillDiagnostic[]")]
    pub fn diagnostics(&self) -> Result<Array, JsValue> {
        tell::diagnostics(&self.found)
    }

    /// Reads one package again and gives its exact text, if it is the one that was found.
    ///
    /// # Errors
    /// Throws a refusal: unknown, not valid, ambiguous, changed since the look, or unreadable.
    #[wasm_bindgen(unchecked_return_type = "ActivatedSkill")]
    pub async fn activate(&self, name: String) -> Result<JsValue, JsValue> {
        let refuse = |e: PackageRefusal| tell::thrown(&e.into());
        let mut activation = self.found.activate(&name).map_err(refuse)?;
        let skill = drive(&self.reader, |replies| activation.step(replies)).await.map_err(refuse)?;
        tell::activated(&skill)
    }
}
