//! Every bound of this crate by name (engine.md §2.12, I-177).

/// Most target paths of one load.
pub const TARGETS_MAX: usize = 64;
/// Most folders that are listed.
pub const FOLDERS_MAX: usize = 256;
/// Most entries taken from one folder.
pub const FOLDER_ENTRIES_MAX: usize = 512;
/// Most entries taken from all folders together.
pub const ENTRIES_MAX: usize = 4096;
/// Most files that are read.
pub const FILES_MAX: usize = 64;
/// Most bytes of one file's text, the marker of a cut included.
pub const FILE_BYTES: usize = 32 * 1024;
/// Most bytes of all blocks together, their frames included.
pub const COMBINED_BYTES: usize = 64 * 1024;
/// Most bytes between the fences of a rule's frontmatter.
pub const FRONTMATTER_BYTES: usize = 4 * 1024;
/// Most globs of one rule.
pub const GLOBS_MAX: usize = 32;
/// Most bytes of one glob.
pub const GLOB_BYTES: usize = 256;
/// Most alternatives that the braces of one rule stand for, all its globs together.
pub const EXPANSIONS_MAX: usize = 64;
/// Most characters of a description that a candidate shows.
pub const DESCRIPTION_CHARS: usize = 1024;
/// Most unresolved imports that are named for one file.
pub const IMPORTS_MAX: usize = 32;
/// Most bytes of a name or value that an omission repeats.
pub const SHOWN_BYTES: usize = 256;
/// Most frontmatter keys that are named as ignored for one file.
pub const KEYS_SHOWN: usize = 16;
/// Most omissions that are listed; the last one counts the rest.
pub const OMISSIONS_MAX: usize = 512;
/// Room that the marker of a cut takes at most.
pub const MARKER_BYTES: usize = 96;
