//! Prefill and decode beside the memory bandwidth read in the same run: `bench MODEL.gguf [tokens] [kernel]`.
//!
//! Absolute speeds say more about the machine than about the engine; the last column is the share of what reading the
//! weights alone would allow.
#![allow(clippy::print_stdout)]

use llm::{Kernel, Sampling, Session, Step};
use std::time::Instant;

fn main() {
    let mut args = std::env::args().skip(1);
    let Some(path) = args.next() else {
        println!("usage: bench MODEL.gguf [decode tokens] [scalar|ssse3]");
        return;
    };
    let tokens = args.next().and_then(|n| n.parse().ok()).unwrap_or(64);
    let name = args.next();
    let kernel =
        Kernel::available().into_iter().find(|k| name.as_deref() == Some(k.name())).unwrap_or_else(Kernel::best);
    let file = match std::fs::read(&path) {
        Ok(file) => file,
        Err(e) => return println!("{path}: {e}"),
    };
    let bandwidth = read_bandwidth();
    println!("read bandwidth, one thread: {:.1} GB/s", bandwidth / 1e9);
    let started = Instant::now();
    let mut s = match Session::load_with(file, llm::session::DEFAULT_CTX, kernel) {
        Ok(s) => s,
        Err(e) => return println!("{path}: {e}"),
    };
    println!("load: {:.0} ms, kernel {}", started.elapsed().as_secs_f64() * 1e3, kernel.name());
    let bound = bandwidth / s.model().bytes_per_token() as f64;
    println!("bound of decode by bandwidth: {bound:.0} tok/s ({} bytes a token)", s.model().bytes_per_token());
    let text = s.tokenizer().encode(&"The quick brown fox jumps over the lazy dog. ".repeat(60));
    for n in [32, 128, 512] {
        let Ok(mut run) = s.begin(&[3], Sampling::default(), vec![]) else { continue };
        let _ = s.step(&mut run);
        let Ok(mut run) = s.begin(&text[..n], Sampling::default(), vec![]) else { continue };
        let started = Instant::now();
        while let Ok(Step::Prefill { done, total }) = s.step(&mut run) {
            if done == total {
                break;
            }
        }
        println!("prefill {n}: {:.1} tok/s", n as f64 / started.elapsed().as_secs_f64());
    }
    for from in [37, 512] {
        let sampling = Sampling { max_tokens: tokens, ..Sampling::default() };
        let Ok(mut run) = s.begin(&text[..from], sampling, vec![]) else { continue };
        while let Ok(Step::Prefill { done, total }) = s.step(&mut run) {
            if done == total {
                break;
            }
        }
        let _ = s.step(&mut run);
        let (started, before) = (Instant::now(), run.usage().completion);
        while let Ok(Step::Text(_)) = s.step(&mut run) {}
        let speed = (run.usage().completion - before) as f64 / started.elapsed().as_secs_f64();
        println!("decode at {from}: {speed:.1} tok/s, {:.2} of the bound", speed / bound);
    }
}

/// Bytes a second that one thread sums from a buffer of the model's size, best of five.
fn read_bandwidth() -> f64 {
    let buffer = vec![1u64; 12 << 20];
    let mut best = 0f64;
    for _ in 0..5 {
        let started = Instant::now();
        let mut sums = [0u64; 16];
        // four streams: one alone waits for the memory most of the time
        let quarter = buffer.len() / 4;
        for i in (0..quarter).step_by(4) {
            for stream in 0..4 {
                let part = &buffer[stream * quarter + i..][..4];
                for lane in 0..4 {
                    sums[4 * stream + lane] = sums[4 * stream + lane].wrapping_add(part[lane]);
                }
            }
        }
        std::hint::black_box(sums);
        best = best.max((buffer.len() * 8) as f64 / started.elapsed().as_secs_f64());
    }
    best
}
