//! Who made a piece of evidence.

use kernel::Digest;
use kernel::authority::TrustedGesture;
use serde::{Deserialize, Serialize};

use super::{SessionId, digest_of};

/// Who stands behind evidence.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Producer {
    /// A person, by a trusted act.
    Person,
    /// A test or validator run.
    Validator,
    /// An agent's session.
    Session(SessionId),
}

/// Whether any of them is somebody else than the author (I-63, I-86).
pub fn independent<'a>(mut producers: impl Iterator<Item = &'a Producer>, author: impl Fn(&SessionId) -> bool) -> bool {
    producers.any(|p| !matches!(p, Producer::Session(s) if author(s)))
}

/// Evidence at hand: what it is, and who made it. What a person did takes the act itself.
///
/// Nobody else writes a person's name under something:
/// ```compile_fail,E0451
/// # use agent_runtime::core::{Evidence, Producer};
/// Evidence { digest: kernel::Digest::of(b"looks done"), producer: Producer::Person };
/// ```
/// and bytes of a record are not evidence at hand:
/// ```compile_fail,E0277
/// # use agent_runtime::core::{Evidence, SchemaTag, decode};
/// let evidence: Evidence = decode(SchemaTag { name: "evidence", version: 1 }, b"").unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Evidence {
    digest: Digest,
    producer: Producer,
}

impl Evidence {
    /// A person looked at `shown` and acted.
    #[must_use]
    pub fn by_person(shown: Digest, act: &TrustedGesture) -> Self {
        Self { digest: digest_of("person", &(shown, act.seq())), producer: Producer::Person }
    }
    /// A run of tests or of a validator, named by the digest of its output.
    #[must_use]
    pub fn by_validator(run: Digest) -> Self {
        Self { digest: run, producer: Producer::Validator }
    }
    /// Something that a session made.
    #[must_use]
    pub fn by_session(digest: Digest, session: SessionId) -> Self {
        Self { digest, producer: Producer::Session(session) }
    }
    /// What it is.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
    /// Who made it.
    #[must_use]
    pub fn producer(&self) -> &Producer {
        &self.producer
    }
}
