//! Prefill and decode beside the memory bandwidth read in the same run: `bench MODEL.gguf [tokens] [kernel]`.
//!
//! Absolute speeds say more about the machine than about the engine; the peer of each is what reading every weight
//! once a token would allow. A figure is a line of JSON, as `cargo xtask bench llm` reads it.
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
    println!(r#"{{"name":"memory read, one thread, native","value":{:.2},"unit":"GB/s"}}"#, bandwidth / 1e9);
    let started = Instant::now();
    let mut s = match Session::load_with(file, llm::session::DEFAULT_CTX, kernel) {
        Ok(s) => s,
        Err(e) => return println!("{path}: {e}"),
    };
    println!("load: {:.0} ms, kernel {}", started.elapsed().as_secs_f64() * 1e3, kernel.name());
    let bound = bandwidth / s.model().bytes_per_token() as f64;
    let figure = |name: String, speed: f64, note: &str| {
        println!(
            r#"{{"name":"model, native: {name}","value":{speed:.1},"unit":"tok/s","more_is_better":true,"note":"{note}","peer":{{"name":"every weight read once a token","value":{bound:.1}}}}}"#
        );
    };
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
        figure(format!("prefill at {n}"), n as f64 / started.elapsed().as_secs_f64(), kernel.name());
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
        let made = run.usage().completion - before;
        // An answer that ended at once gave no speed.
        if made >= tokens / 4 {
            let speed = made as f64 / started.elapsed().as_secs_f64();
            figure(format!("decode at {from}"), speed, &format!("{made} tokens"));
        }
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
