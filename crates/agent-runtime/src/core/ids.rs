//! Names and counters. None converts into another by itself.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::refuse::refusals;

/// Longest identity, bytes.
pub const ID_MAX: usize = 128;
/// Longest root, bytes.
pub const ROOT_MAX: usize = 1024;

/// Why a text names nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdRefusal {
    /// Not 1 to 128 of the allowed characters.
    #[error("{kind} “{text}” is not 1 to {ID_MAX} of A-Z a-z 0-9 . _ : -")]
    IdInvalid {
        /// What was named.
        kind: &'static str,
        /// What was given, cut.
        text: String,
    },
    /// Not a normalised absolute path.
    #[error("“{text}” is not an absolute path without “..”, empty parts, NUL or backslash")]
    RootInvalid {
        /// What was given, cut.
        text: String,
    },
}

/// A counter is at its end: an error, never a wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a counter is at its end")]
pub struct Overflow;

refusals!(IdRefusal => "The name", Overflow => "The counter");

fn cut(text: &str) -> String {
    text.chars().take(ID_MAX).collect()
}

macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident = $kind:literal by $check:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Box<str>);
        impl $name {
            /// Checks and takes it.
            ///
            /// # Errors
            /// [`IdRefusal`].
            pub fn new(text: &str) -> Result<Self, IdRefusal> {
                $check($kind, text).map(|()| Self(text.into()))
            }
            /// As text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl TryFrom<String> for $name {
            type Error = IdRefusal;
            fn try_from(text: String) -> Result<Self, IdRefusal> {
                Self::new(&text)
            }
        }
        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0.into()
            }
        }
    )*};
}

fn name(kind: &'static str, text: &str) -> Result<(), IdRefusal> {
    let ok = |b: u8| b.is_ascii_alphanumeric() || b"._:-".contains(&b);
    if (1..=ID_MAX).contains(&text.len()) && text.bytes().all(ok) {
        Ok(())
    } else {
        Err(IdRefusal::IdInvalid { kind, text: cut(text) })
    }
}

fn root(_: &'static str, text: &str) -> Result<(), IdRefusal> {
    let part = |p: &str| !p.is_empty() && p != "." && p != ".." && !p.contains(['\0', '\\']);
    let parts = text.strip_prefix('/').filter(|_| text.len() <= ROOT_MAX);
    if parts.is_some_and(|rest| rest.is_empty() || rest.split('/').all(part)) {
        Ok(())
    } else {
        Err(IdRefusal::RootInvalid { text: cut(text) })
    }
}

texts! {
    /// A task; its conversation has the same id.
    TaskId = "task" by name;
    /// A page load, or a host's run: who writes.
    SessionId = "session" by name;
    /// An event of a trace.
    EventId = "event" by name;
    /// A trace.
    TraceId = "trace" by name;
    /// A project.
    ProjectId = "project" by name;
    /// A normalised absolute mount path; compared byte by byte.
    ActiveRoot = "root" by root;
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub struct $name(pub u64);
        impl $name {
            /// The next one.
            ///
            /// # Errors
            /// [`Overflow`] at the end.
            pub fn next(self) -> Result<Self, Overflow> {
                self.0.checked_add(1).map(Self).ok_or(Overflow)
            }
        }
    )*};
}

counters! {
    /// A state of a task.
    Seq;
    /// A generation of writers.
    Gen;
    /// A life of a task.
    Rev;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_roots_are_checked_at_construction() {
        for ok in ["a", "A.b_c:d-9", &"x".repeat(128)] {
            assert!(SessionId::new(ok).is_ok(), "{ok}");
        }
        for bad in ["", " ", "a/b", "ä", &"x".repeat(129)] {
            assert!(matches!(SessionId::new(bad), Err(IdRefusal::IdInvalid { .. })), "{bad}");
        }
        for ok in ["/", "/mnt", "/mnt/a b"] {
            assert!(ActiveRoot::new(ok).is_ok(), "{ok}");
        }
        for bad in ["", "mnt", "/mnt/", "/a//b", "/a/../b", "/a\\b", "/a\0"] {
            assert!(matches!(ActiveRoot::new(bad), Err(IdRefusal::RootInvalid { .. })), "{bad}");
        }
    }

    #[test]
    fn a_counter_never_wraps() {
        assert_eq!(Seq(1).next(), Ok(Seq(2)));
        assert_eq!(Gen(u64::MAX).next(), Err(Overflow));
    }
}
