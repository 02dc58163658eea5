//! What the engine makes of a package's frontmatter. The format has no field for triggers or paths,
//! so they come from `metadata`, and from what the description itself puts in quotation marks.

use kernel::registry::Review;
use kernel::{Digest, IdError, SkillId, ToolName};

use super::clause::{Reading, Stand};
use super::evaluate::is_trigger;
use super::mask::{MaskKind, mask};
use super::text::tokens;
use super::{PATTERNS_MAX, REQUIRED_TOOLS_MAX, SkillMeta, TRIGGERS_MAX};
use crate::packages::Manifest;

impl SkillMeta {
    /// Reads a package's frontmatter: `metadata.triggers` and `metadata.negative-terms` are phrases
    /// between semicolons; `required-tools`, `include-paths`, `exclude-paths` are lists between
    /// blanks. What is quoted in the description asks for the skill, or in a sentence of what it is
    /// not for, speaks against it. A tool name that cannot be one is a tool that is never live.
    ///
    /// # Errors
    /// The name is none.
    pub fn of_package(manifest: &Manifest, digest: Digest, body_bytes: usize, review: Review) -> Result<Self, IdError> {
        let phrases = |key: &str| -> Vec<String> {
            let parts = manifest.meta(key).unwrap_or("").split(';').map(str::trim);
            parts.filter(|p| !p.is_empty()).map(str::to_owned).take(TRIGGERS_MAX).collect()
        };
        let list = |key: &str, most| -> Vec<String> {
            manifest.meta(key).unwrap_or("").split_whitespace().map(str::to_owned).take(most).collect()
        };
        let (mut triggers, mut negative_terms) = (phrases("triggers"), phrases("negative-terms"));
        for (phrase, against) in quoted(&manifest.description) {
            let into = if against { &mut negative_terms } else { &mut triggers };
            if into.len() < TRIGGERS_MAX && !into.contains(&phrase) {
                into.push(phrase);
            }
        }
        let tools = list("required-tools", REQUIRED_TOOLS_MAX);
        let required_tools = tools.iter().map(|t| ToolName::new(t)).collect::<Result<_, _>>()?;
        Ok(Self {
            id: SkillId::new(&manifest.name)?,
            version: manifest.version().map(str::to_owned),
            description: manifest.description.clone(),
            triggers,
            negative_terms,
            required_tools,
            // One more than allowed, so that a list over its bound is seen to be one and fails closed.
            include_paths: list("include-paths", PATTERNS_MAX + 1),
            exclude_paths: list("exclude-paths", PATTERNS_MAX + 1),
            enabled: true,
            review,
            digest,
            body_bytes,
        })
    }
}

/// Phrases in quotation marks, and whether their sentence is about what it is not for.
fn quoted(description: &str) -> Vec<(String, bool)> {
    let masked = mask(description);
    let words = tokens(description, &masked);
    let reading = Reading::of(&words, false);
    let mut out = Vec::new();
    for region in masked.iter().filter(|m| m.kind == MaskKind::Quote) {
        let inner = &description[region.span.start..region.span.end];
        let phrase = inner.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
        // The words said before it tell what the sentence is about.
        let before = reading.said.partition_point(|&n| words.list[n].span.end <= region.span.start);
        let against = before > 0 && matches!(reading.stand(before - 1, before), Stand::Negated | Stand::Ambiguous);
        if is_trigger(&phrase) {
            out.push((phrase, against));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_says_by_its_quotes_what_to_listen_to() {
        let manifest = Manifest {
            name: "tide-table".into(),
            description:
                "Looks up tides. Use when asked for \"the next tide\" or “high water”. Do not use for \"tide pods\"."
                    .into(),
            license: None,
            compatibility: None,
            metadata: vec![
                ("triggers".into(), "low water; tide times".into()),
                ("required-tools".into(), "files.read clock.now".into()),
                ("include-paths".into(), "harbour/** docs/*.md".into()),
                ("version".into(), "2".into()),
            ],
            tool_hints: vec![],
            extra: vec![],
        };
        let meta = SkillMeta::of_package(&manifest, Digest::of(b""), 1, Review::Unreviewed).expect("meta");
        assert_eq!(meta.triggers, ["low water", "tide times", "the next tide", "high water"]);
        assert_eq!(meta.negative_terms, ["tide pods"]);
        assert_eq!((meta.required_tools.len(), meta.include_paths.len()), (2, 2));
        assert_eq!(meta.version.as_deref(), Some("2"));
        let bad = Manifest { name: "Tide".into(), ..manifest };
        assert!(SkillMeta::of_package(&bad, Digest::of(b""), 1, Review::Unreviewed).is_err());
    }
}
