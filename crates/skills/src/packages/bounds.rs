//! The bounds of engine.md §2.12 that concern packages, each with the reason given there.

/// Entries listed of one root; beyond it the scan is incomplete and lower roots are refused.
pub const ROOT_ENTRIES_MAX: usize = 256;
/// Entries listed of one package folder, to find the exact name of its file.
pub const FOLDER_ENTRIES_MAX: usize = 256;
/// Bytes of one SKILL.md.
pub const FILE_MAX: usize = 64 * 1024;
/// Bytes between the fences.
pub const FRONTMATTER_MAX: usize = 8 * 1024;
/// Bytes of a body.
pub const BODY_MAX: usize = 56 * 1024;
/// Code points of a name.
pub const NAME_MAX: usize = 64;
/// Code points of a description.
pub const DESCRIPTION_MAX: usize = 1024;
/// Code points under which a description is called short.
pub const DESCRIPTION_SHORT: usize = 24;
/// Code points of `license`.
pub const LICENSE_MAX: usize = 200;
/// Code points of `compatibility`.
pub const COMPATIBILITY_MAX: usize = 500;
/// Keys of `metadata`.
pub const METADATA_KEYS_MAX: usize = 32;
/// Code points of a key of `metadata`.
pub const METADATA_KEY_MAX: usize = 64;
/// Code points of a value of `metadata`.
pub const METADATA_VALUE_MAX: usize = 512;
/// Tokens of `allowed-tools`.
pub const TOOL_HINTS_MAX: usize = 64;
/// Code points of one token of `allowed-tools`.
pub const TOOL_HINT_MAX: usize = 256;
/// Lines of a body that the format advises at most.
pub const BODY_LINES_ADVISED: usize = 500;
/// Diagnostics kept of one file; how many there were is counted.
pub const DIAGNOSTICS_MAX: usize = 32;
/// Hidden characters kept of one file, runs counting once; how many there were is counted.
pub const FINDINGS_MAX: usize = 128;
/// Nesting of frontmatter that is looked at.
pub const DEPTH_MAX: usize = 8;
/// Nodes of one frontmatter.
pub const NODES_MAX: usize = 4096;
/// Files asked for in one step, so that no more than this many are in memory at once.
pub const BATCH: usize = 32;
/// Names that one package may depend on.
pub const DEPENDS_MAX: usize = 16;
/// Packages in one dependency order.
pub const DEPENDS_ORDER_MAX: usize = 64;
/// Entries shown of `references/` and of `assets/` each.
pub const RESOURCES_MAX: usize = 64;
/// Reviews kept, and skills switched off.
pub const REVIEWS_MAX: usize = 1024;
/// Content digests whose diagnostics were told already.
pub const TOLD_MAX: usize = 4096;
/// Bytes of a reviewer's name.
pub const REVIEWER_MAX: usize = 120;
