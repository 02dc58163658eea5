//! Activation: the file is read again, must be the one that discovery saw, and its exact body is
//! handed out with its digest and where it came from (I-130). It grants nothing (I-132).

use super::bounds::{FILE_MAX, FOLDER_ENTRIES_MAX};
use super::discover::{Found, OwnFile, own_file};
use super::inspect::{Inspection, Verdict, inspect};
use super::manifest::Manifest;
use super::resolve::PackageRefusal;
use super::root::Root;
use kernel::Digest;
use kernel::mount::{MountError, MountPath, Need, Reply, Step};
use std::ops::Range;

/// Where a package came from.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Provenance {
    /// Its root.
    pub root: Root,
    /// Its file.
    pub path: MountPath,
    /// Size of the file in bytes.
    pub bytes: usize,
}

/// The exact bytes of one validated package. Only [`Activation`] makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activated {
    file: Vec<u8>,
    body: Range<usize>,
    digest: Digest,
    manifest: Manifest,
    clean: bool,
    hidden: usize,
    provenance: Provenance,
}

impl Activated {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.manifest.name
    }
    /// The body's exact bytes.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.file[self.body.clone()]
    }
    /// The body as text; the file is UTF-8, or it would not be here.
    #[must_use]
    pub fn text(&self) -> &str {
        std::str::from_utf8(self.body()).unwrap_or_default()
    }
    /// The whole file, as a review shows it.
    #[must_use]
    pub fn file(&self) -> &[u8] {
        &self.file
    }
    /// The digest of the whole file, byte order mark and line ends included (decision 9).
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
    /// What the package says about itself.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }
    /// Where it came from.
    #[must_use]
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }
    /// What `allowed-tools` asks for. It offers, permits and approves no tool.
    #[must_use]
    pub fn requested_tool_hints(&self) -> &[String] {
        &self.manifest.tool_hints
    }
    /// Always false (I-132).
    #[must_use]
    pub const fn requested_tool_hints_are_authority(&self) -> bool {
        false
    }
    /// True when nothing hides in it and its name looks like no other.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.clean
    }
    /// How many runs of hidden characters it has.
    #[must_use]
    pub fn hidden(&self) -> usize {
        self.hidden
    }
}

/// Reads the file of one entry again, and hands it out only if it is the one that was found.
#[derive(Debug)]
pub struct Reread {
    name: String,
    path: MountPath,
    was: Digest,
    listed: Option<bool>,
}

impl Reread {
    /// `None` for an entry whose file was not read, or not whole.
    #[must_use]
    pub fn of(found: &Found) -> Option<Self> {
        let (path, was) = (found.path.clone()?, found.digest()?);
        Some(Self { name: found.folder.clone(), path, was, listed: None })
    }

    /// The next step.
    pub fn step(&mut self, replies: Vec<Reply>) -> Step<Result<Vec<u8>, PackageRefusal>> {
        let reply = replies.into_iter().next();
        match self.listed {
            None => {
                self.listed = Some(false);
                Step::Need(vec![Need::List { path: self.path.parent(), max: FOLDER_ENTRIES_MAX }])
            }
            Some(false) => {
                self.listed = Some(true);
                match reply {
                    Some(Reply::Failed(e)) => Step::Done(Err(self.failed(e))),
                    reply => match own_file(reply) {
                        OwnFile::There => Step::Need(vec![Need::Read { path: self.path.clone(), max: FILE_MAX }]),
                        OwnFile::Not(..) => Step::Done(Err(self.changed(None))),
                    },
                }
            }
            Some(true) => Step::Done(match reply {
                Some(Reply::Bytes { bytes, total }) => {
                    let now = Digest::of(&bytes);
                    if now == self.was && bytes.len() as u64 == total {
                        Ok(bytes)
                    } else {
                        Err(self.changed(Some(now)))
                    }
                }
                Some(Reply::Failed(e)) => Err(self.failed(e)),
                _ => Err(self.failed(MountError::Io("the file was not read".into()))),
            }),
        }
    }

    fn changed(&self, now: Option<Digest>) -> PackageRefusal {
        PackageRefusal::PackageChanged { name: self.name.clone(), was: self.was, now }
    }

    fn failed(&self, error: MountError) -> PackageRefusal {
        match error {
            MountError::NotFound | MountError::WrongKind => self.changed(None),
            error => PackageRefusal::Unavailable { name: self.name.clone(), error },
        }
    }
}

/// The stepper that reads one package again and verifies it.
#[derive(Debug)]
pub struct Activation {
    reread: Reread,
    root: Root,
    looks_clean: bool,
}

impl Activation {
    pub(super) fn of(found: &Found) -> Result<Self, PackageRefusal> {
        match Reread::of(found).filter(|_| found.verdict() == Verdict::Portable) {
            Some(reread) => Ok(Self { reread, root: found.root, looks_clean: found.is_clean() }),
            None => Err(PackageRefusal::NameUnknown { name: found.folder.clone() }),
        }
    }

    /// The next step.
    pub fn step(&mut self, replies: Vec<Reply>) -> Step<Result<Activated, PackageRefusal>> {
        match self.reread.step(replies) {
            Step::Need(needs) => Step::Need(needs),
            Step::Done(bytes) => Step::Done(bytes.and_then(|b| self.verify(b))),
        }
    }

    fn verify(&self, bytes: Vec<u8>) -> Result<Activated, PackageRefusal> {
        let seen = inspect(&self.reread.name, &bytes, bytes.len() as u64);
        let clean = self.looks_clean && seen.is_clean();
        match seen {
            Inspection {
                verdict: Verdict::Portable,
                whole: true,
                digest,
                body,
                findings,
                manifest: Some(manifest),
                ..
            } => {
                let provenance = Provenance { root: self.root, path: self.reread.path.clone(), bytes: bytes.len() };
                Ok(Activated { file: bytes, body, digest, manifest, clean, hidden: findings.total, provenance })
            }
            other => Err(self.reread.changed(Some(other.digest))),
        }
    }
}
