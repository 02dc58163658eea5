//! Workspace conventions: which instruction files apply to a set of target paths, in which order,
//! and why (engine.md §2.2).
