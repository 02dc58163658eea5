//! The C ABI of the WebAssembly module: [`Port`] behind plain functions.
//!
//! The caller writes only into buffers that these functions hand out and reads only the one they name, so nothing
//! here follows a pointer. The attribute that exports a name is the only unsafe thing in the file: no other symbol of
//! the module begins with `llm_`.
#![allow(unsafe_code)]

use crate::port::{Port, VERSION};
use std::cell::RefCell;

thread_local! {
    static PORT: RefCell<Port> = RefCell::default();
}

fn with<T>(f: impl FnOnce(&mut Port) -> T) -> T {
    PORT.with_borrow_mut(f)
}

/// Version of the byte protocol.
#[unsafe(no_mangle)]
pub extern "C" fn llm_version() -> u32 {
    VERSION
}

/// Where to write a request of `n` bytes; null where there is no room.
#[unsafe(no_mangle)]
pub extern "C" fn llm_input(n: usize) -> *mut u8 {
    with(|p| if p.reserve(n) { p.input.as_mut_ptr() } else { std::ptr::null_mut() })
}

/// Where the last answer lies.
#[unsafe(no_mangle)]
pub extern "C" fn llm_out() -> *const u8 {
    with(|p| p.out.as_ptr())
}

/// How long the last answer is.
#[unsafe(no_mangle)]
pub extern "C" fn llm_out_len() -> usize {
    with(|p| p.out.len())
}

/// Where to write a model file of `n` bytes; null where there is no room. Starts its digest.
#[unsafe(no_mangle)]
pub extern "C" fn llm_file(n: usize) -> *mut u8 {
    with(|p| if p.reserve_file(n) { p.file.as_mut_ptr() } else { std::ptr::null_mut() })
}

/// Takes a part of the file into the digest; 0 where there is no such part.
#[unsafe(no_mangle)]
pub extern "C" fn llm_hash(from: usize, len: usize) -> u32 {
    with(|p| u32::from(p.hash_file(from, len)))
}

/// Ends the digest; its hexadecimal form is the answer.
#[unsafe(no_mangle)]
pub extern "C" fn llm_digest() {
    with(Port::digest);
}

/// Compares the kernels with the reference on this machine.
#[unsafe(no_mangle)]
pub extern "C" fn llm_check() -> u32 {
    with(|p| p.check() as u32)
}

/// Loads the file with a window of `ctx` tokens.
#[unsafe(no_mangle)]
pub extern "C" fn llm_load(ctx: usize) -> u32 {
    with(|p| p.load(ctx) as u32)
}

/// Tokens of the text in the request; -1 without a model.
#[unsafe(no_mangle)]
pub extern "C" fn llm_count() -> i32 {
    with(|p| p.count().and_then(|n| i32::try_from(n).ok()).unwrap_or(-1))
}

/// Starts an answer.
#[unsafe(no_mangle)]
pub extern "C" fn llm_chat() -> u32 {
    with(|p| p.chat() as u32)
}

/// Starts scoring.
#[unsafe(no_mangle)]
pub extern "C" fn llm_score() -> u32 {
    with(|p| p.score() as u32)
}

/// One piece of work.
#[unsafe(no_mangle)]
pub extern "C" fn llm_step() -> u32 {
    with(|p| p.step() as u32)
}

/// Ends the current run.
#[unsafe(no_mangle)]
pub extern "C" fn llm_cancel() {
    with(Port::cancel);
}

/// Traps, so that a test can see what a lost engine does to the shell.
#[unsafe(no_mangle)]
pub extern "C" fn llm_trap() {
    std::process::abort();
}
