//! The toolkit: view state becomes a display list and a semantics tree.

pub mod event;
