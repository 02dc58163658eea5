//! Identities: digests, revisions, names with one checked constructor each, and the keys of
//! a turn, a call and an operation.

use crate::refusal::Refusal;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt;

/// SHA-256 of some bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(pub [u8; 32]);

/// Numbers where people read, 32 bytes where they do not.
impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() { self.0.serialize(to) } else { to.serialize_bytes(&self.0) }
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl serde::de::Visitor<'_> for Bytes {
            type Value = Digest;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("32 bytes")
            }
            fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Digest, E> {
                bytes.try_into().map(Digest).map_err(|_| E::invalid_length(bytes.len(), &self))
            }
        }
        if from.is_human_readable() { Deserialize::deserialize(from).map(Self) } else { from.deserialize_bytes(Bytes) }
    }
}

impl Digest {
    /// The digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
    /// The digest of several parts, each prefixed by its length, so that no two lists of
    /// parts share one.
    #[must_use]
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut h = Sha256::new();
        for p in parts {
            h.update((p.len() as u64).to_le_bytes());
            h.update(p);
        }
        Self(h.finalize().into())
    }
    /// 64 lower-case hex digits.
    #[must_use]
    pub fn hex(&self) -> String {
        self.0.iter().map(|b| format!("{b:02x}")).collect()
    }
    /// The first 8 hex digits, for a person's eye; never for a comparison.
    #[must_use]
    pub fn short(&self) -> String {
        self.hex()[..8].to_owned()
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short())
    }
}

/// A revision of a registry or of a draft: rises by at least one on every change (I-135).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Rev(pub u64);

impl Rev {
    /// The next revision.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// Why a name is not a name (decision 18: `[a-z0-9][a-z0-9._-]{0,63}`).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} “{text}” is not a valid name: 1 to 64 of a-z, 0-9, '.', '_', '-', starting with a letter or digit")]
pub struct IdError {
    /// What was being named.
    pub kind: &'static str,
    /// What was given, cut to 64 characters.
    pub text: String,
}

impl From<IdError> for Refusal {
    fn from(e: IdError) -> Self {
        Self::new("IdInvalid", e.kind, "1 to 64 of a-z 0-9 . _ - starting with a letter or digit", &e.text)
    }
}

/// Longest name (decision 18).
pub const ID_MAX: usize = 64;

fn checked(kind: &'static str, text: &str) -> Result<Box<str>, IdError> {
    let ok = |i: usize, b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || (i > 0 && b"._-".contains(&b));
    if !text.is_empty() && text.len() <= ID_MAX && text.bytes().enumerate().all(|(i, b)| ok(i, b)) {
        Ok(text.into())
    } else {
        Err(IdError { kind, text: text.chars().take(ID_MAX).collect() })
    }
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident = $kind:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Box<str>);
        impl $name {
            /// Checks and takes a name.
            ///
            /// # Errors
            /// [`IdError`] when it is not of the shape of decision 18.
            pub fn new(text: &str) -> Result<Self, IdError> {
                checked($kind, text).map(Self)
            }
            /// The name.
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
            type Error = IdError;
            fn try_from(s: String) -> Result<Self, IdError> {
                Self::new(&s)
            }
        }
        impl From<$name> for String {
            fn from(n: $name) -> Self {
                n.0.into()
            }
        }
    )*};
}

names! {
    /// A package: the unit that is enabled and disabled.
    PackageId = "package";
    /// An app.
    AppId = "app";
    /// A manifest action of an app.
    ActionId = "action";
    /// A view inside an app.
    SurfaceId = "view";
    /// A command of the bus.
    CommandName = "command";
    /// A tool.
    ToolName = "tool";
    /// A skill or built-in guidance.
    SkillId = "skill";
    /// A mounted folder.
    MountId = "mount";
    /// A conversation; also the id of its task (contracts.md, ground rules).
    ConversationId = "conversation";
}

/// One submission and what follows from it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TurnKey {
    /// Conversation.
    pub conversation: ConversationId,
    /// Counter inside it, from 1.
    pub turn: u64,
}

impl fmt::Display for TurnKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.conversation, self.turn)
    }
}

/// One tool call of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CallId {
    /// Turn.
    pub turn: TurnKey,
    /// Counter inside it, from 1.
    pub n: u32,
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.turn, self.n)
    }
}

/// The effect of one mutating call: derived from its call, so it can never be minted twice.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OperationId(CallId);

impl OperationId {
    /// The operation of a call.
    #[must_use]
    pub fn of(call: &CallId) -> Self {
        Self(call.clone())
    }
    /// Its call.
    #[must_use]
    pub fn call(&self) -> &CallId {
        &self.0
    }
}

impl fmt::Display for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "op:{}", self.0)
    }
}

/// A moment, stamped by the shell's main thread with every input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Instant {
    /// Milliseconds since 1970, may jump.
    pub wall_ms: i64,
    /// Milliseconds since the page was loaded, never goes back.
    pub mono_ms: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_decision_18() {
        for ok in ["a", "files.read", "0x", "a-b_c.d", &"a".repeat(64)] {
            assert!(ToolName::new(ok).is_ok(), "{ok}");
        }
        for bad in ["", "A", ".a", "-a", "a b", "a/b", "ä", "a\u{200b}", &"a".repeat(65)] {
            assert!(ToolName::new(bad).is_err(), "{bad}");
        }
        assert!(serde_json::from_str::<ToolName>("\"a b\"").is_err());
    }

    #[test]
    fn digests_of_parts_do_not_collide_by_concatenation() {
        assert_ne!(Digest::of_parts(&[b"ab", b"c"]), Digest::of_parts(&[b"a", b"bc"]));
        assert_eq!(Digest::of(b"").hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
