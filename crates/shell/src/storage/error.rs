//! Why something could not be kept or found again.

use kernel::Refusal;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::DomException;

/// Why a storage operation failed. Its words are for the person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StorageError {
    /// The browser has no database for this page, or forbids it.
    #[error("this browser keeps nothing for this page ({0})")]
    Unavailable(String),
    /// This window's connection was given up for a newer build in another window.
    #[error("the storage was given up, to a newer version in another window or because it was deleted: reload")]
    Superseded,
    /// The database is of a newer build than this one.
    #[error("what is stored here was written by a newer version: reload this window")]
    Newer,
    /// No room (`field_10h2`).
    #[error("the storage is full: {}", numbers(*.used, *.allowed))]
    Quota {
        /// Bytes in use, where the browser says.
        used: Option<u64>,
        /// Bytes allowed, where the browser says.
        allowed: Option<u64>,
    },
    /// The connection broke and could not be opened again.
    #[error("the connection to the storage was lost ({0})")]
    Lost(String),
    /// What is stored cannot be understood.
    #[error("a stored record of “{store}” cannot be read: {why}")]
    Damaged {
        /// The store.
        store: &'static str,
        /// In the decoder's words.
        why: String,
    },
    /// Anything else, in the browser's words.
    #[error("{0}")]
    Io(String),
}

const MIB: u64 = 1 << 20;

fn numbers(used: Option<u64>, allowed: Option<u64>) -> String {
    match (used, allowed) {
        (Some(used), Some(allowed)) => format!("{} of {} MiB are in use", used.div_ceil(MIB), allowed / MIB),
        _ => "the browser does not say how much is in use".to_owned(),
    }
}

impl StorageError {
    /// From what a request or a transaction threw.
    pub(super) fn of(thrown: &JsValue) -> Self {
        let (name, message) = words_of(thrown);
        match name.as_str() {
            "QuotaExceededError" => Self::Quota { used: None, allowed: None },
            "VersionError" => Self::Newer,
            "InvalidStateError" => Self::Lost(message),
            "SecurityError" => Self::Unavailable(message),
            _ => Self::Io(if message.is_empty() { name } else { message }),
        }
    }
}

impl From<StorageError> for Refusal {
    fn from(e: StorageError) -> Self {
        let code = match e {
            StorageError::Unavailable(_) => "StorageUnavailable",
            StorageError::Superseded => "StorageSuperseded",
            StorageError::Newer => "StorageNewer",
            StorageError::Quota { .. } => "StorageFull",
            StorageError::Lost(_) => "StorageLost",
            StorageError::Damaged { .. } => "StorageDamaged",
            StorageError::Io(_) => "StorageIo",
        };
        Self::new(code, "Saving", "room and access in this browser", &e.to_string())
    }
}

/// Name and message of whatever was thrown.
pub(crate) fn words_of(thrown: &JsValue) -> (String, String) {
    if let Some(e) = thrown.dyn_ref::<DomException>() {
        (e.name(), e.message())
    } else if let Some(e) = thrown.dyn_ref::<js_sys::Error>() {
        (e.name().into(), e.message().into())
    } else {
        (String::new(), thrown.as_string().unwrap_or_else(|| format!("{thrown:?}")))
    }
}
