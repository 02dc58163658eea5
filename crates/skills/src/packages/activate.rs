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

/// The stepper that reads one package again.
#[derive(Debug)]
pub struct Activation {
    name: String,
    root: Root,
    path: MountPath,
    was: Digest,
    looks_clean: bool,
    listed: Option<bool>,
}

impl Activation {
    pub(super) fn of(found: &Found) -> Result<Self, PackageRefusal> {
        let name = found.folder.clone();
        match (&found.path, found.digest()) {
            (Some(path), Some(was)) if found.verdict() == Verdict::Portable => Ok(Self {
                name,
                root: found.root,
                path: path.clone(),
                was,
                looks_clean: found.is_clean(),
                listed: None,
            }),
            _ => Err(PackageRefusal::NameUnknown { name }),
        }
    }

    /// The next step.
    pub fn step(&mut self, replies: Vec<Reply>) -> Step<Result<Activated, PackageRefusal>> {
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
                Some(Reply::Bytes { bytes, total }) => self.verify(bytes, total),
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

    fn verify(&self, bytes: Vec<u8>, total: u64) -> Result<Activated, PackageRefusal> {
        let seen = inspect(&self.name, &bytes, total);
        if seen.digest != self.was || !seen.whole || seen.verdict != Verdict::Portable {
            return Err(self.changed(Some(seen.digest)));
        }
        let clean = self.looks_clean && seen.is_clean();
        let Inspection { digest, body, findings, manifest: Some(manifest), .. } = seen else {
            return Err(self.changed(Some(seen.digest)));
        };
        let provenance = Provenance { root: self.root, path: self.path.clone(), bytes: bytes.len() };
        Ok(Activated { file: bytes, body, digest, manifest, clean, hidden: findings.total, provenance })
    }
}
