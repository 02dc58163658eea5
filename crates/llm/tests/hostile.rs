//! Files that lie: every one is refused with its reason or runs harmlessly, and none panics.

mod common;

use common::{Builder, DIM, f32v, ints, strings, strv, u32v};
use llm::{Kernel, Sampling, Session, Step};

fn load(file: Vec<u8>) -> Result<Session, llm::LoadError> {
    Session::load(file, 64)
}

fn code(file: Vec<u8>) -> &'static str {
    load(file).expect_err("refused").refusal().code
}

fn changed(key: &str, value: Vec<u8>) -> Vec<u8> {
    let mut b = Builder::small();
    b.meta(key, value);
    b.file()
}

/// Twenty tokens whatever the numbers are.
fn run(s: &mut Session) {
    let ids = s.tokenizer().encode("in the end");
    let ids: Vec<u32> = ids.into_iter().filter(|id| (*id as usize) < s.model().config.vocab).take(20).collect();
    let sampling = Sampling { max_tokens: 20, penalty: 1.1, ..Sampling::default() };
    let Ok(mut run) = s.begin(&ids, sampling, vec![]) else { return };
    while !matches!(s.step(&mut run).expect("no constraint"), Step::End { .. }) {}
}

#[test]
fn the_small_model_loads_and_runs() {
    let mut s = load(Builder::small().file()).expect("a valid file");
    assert_eq!(s.model().config.heads, 4);
    assert_eq!(s.tokenizer().encode("in the"), [263, 261]);
    assert_eq!(s.template().default_system.as_deref(), Some("You are small."));
    run(&mut s);
}

#[test]
fn kernels_agree_on_the_small_model_with_every_storage() {
    let ids: Vec<u32> = (3..60).collect();
    let mut all = vec![];
    for kernel in Kernel::available() {
        let mut s = Session::load_with(Builder::small().file(), 64, kernel).expect("valid");
        let mut run = s.begin(&ids, Sampling::default(), vec![]).expect("run");
        while !matches!(s.step(&mut run), Ok(Step::Prefill { done, total }) if done == total) {}
        all.push(s.logits().to_vec());
    }
    assert!(all.iter().all(|l| *l == all[0]) && all[0].iter().all(|x| x.is_finite()));
    llm::kernels::self_check().expect("kernels agree on the extremes");
}

#[test]
fn every_truncation_is_refused() {
    let file = Builder::small().file();
    let ends = (0..file.len()).step_by(7).chain(0..400).chain(file.len() - 70..file.len() - 32);
    for end in ends {
        let refusal = load(file[..end].to_vec()).expect_err("truncated").refusal();
        assert!(matches!(refusal.code, "gguf-truncated" | "gguf-out-of-file"), "{end}: {refusal}");
    }
}

#[test]
fn flipped_bits_never_panic() {
    let file = Builder::small().file();
    let mut random = Builder::small();
    // most flips go where the structure is: before the weights
    let head = file.len() - 80_000.min(file.len() / 2);
    let (mut refused, mut ran) = (0, 0);
    for round in 0..4000 {
        let mut bad = file.clone();
        for _ in 0..1 + round % 3 {
            let range = if round % 4 == 0 { bad.len() } else { head };
            let at = random.random() as usize % range;
            bad[at] ^= 1 << (random.random() % 8);
        }
        match load(bad) {
            Err(e) => {
                assert!(!e.refusal().code.is_empty());
                refused += 1;
            }
            Ok(mut s) => {
                run(&mut s);
                ran += 1;
            }
        }
    }
    assert!(refused > 100 && ran > 100, "{refused} {ran}");
}

#[test]
fn noise_is_refused() {
    let mut random = Builder::small();
    for len in [0, 3, 4, 24, 200, 5000] {
        let mut noise: Vec<u8> = (0..len).map(|_| random.random() as u8).collect();
        assert!(load(noise.clone()).is_err());
        if len >= 8 {
            noise[..8].copy_from_slice(b"GGUF\x03\0\0\0");
            assert!(load(noise).is_err());
        }
    }
}

#[test]
fn the_container_is_checked() {
    let file = Builder::small().file();
    let patch = |at: usize, bytes: &[u8]| {
        let mut f = file.clone();
        f[at..at + bytes.len()].copy_from_slice(bytes);
        f
    };
    assert_eq!(code(patch(0, b"GGML")), "gguf-magic");
    assert_eq!(code(patch(4, &[9])), "gguf-version");
    assert_eq!(code(patch(8, &u64::MAX.to_le_bytes())), "gguf-too-many");
    assert_eq!(code(patch(16, &u64::MAX.to_le_bytes())), "gguf-too-many");
    assert_eq!(code(patch(24, &u64::MAX.to_le_bytes())), "gguf-too-many");
    // an array that claims more than the file holds
    let mut lie = strings(&[]);
    lie[8..16].copy_from_slice(&(u64::MAX / 2).to_le_bytes());
    assert_eq!(code(changed("x", lie.clone())), "gguf-truncated");
    lie[4..8].copy_from_slice(&10u32.to_le_bytes());
    assert_eq!(code(changed("x", lie.clone())), "gguf-truncated");
    lie[4..8].copy_from_slice(&9u32.to_le_bytes());
    assert_eq!(code(changed("x", lie)), "gguf-value-type");
    assert_eq!(code(changed("x", 77u32.to_le_bytes().to_vec())), "gguf-value-type");
    assert_eq!(code(changed("general.alignment", u32v(3))), "gguf-alignment");
    assert_eq!(code(changed("general.alignment", u32v(0))), "gguf-alignment");
    let mut text = strv("ab");
    let end = text.len();
    text[end - 1] = 0xff;
    assert_eq!(code(changed("x", text)), "gguf-text");
    let mut b = Builder::small();
    b.meta.push(("general.architecture".into(), strv("llama")));
    assert_eq!(code(b.file()), "gguf-twice");
}

#[test]
fn tensors_lie_inside_the_file_apart_and_aligned() {
    let b = Builder::small();
    let last = "blk.1.ffn_down.weight";
    let place = |to: u64| b.file_with(|name, offset| if name == last { to } else { offset });
    assert_eq!(code(place(0)), "gguf-overlap");
    assert_eq!(code(place(1 << 40)), "gguf-out-of-file");
    assert_eq!(code(place(u64::MAX - 31)), "gguf-out-of-file");
    assert_eq!(code(place(33)), "gguf-unaligned");
    for (dims, want) in [
        (vec![31, 32], "gguf-dims"),
        (vec![0, 32], "gguf-dims"),
        (vec![!31, 1 << 40], "gguf-dims"),
        (vec![], "gguf-too-many"),
        (vec![32; 5], "gguf-too-many"),
        (vec![1 << 40, 32], "gguf-out-of-file"),
    ] {
        let mut b = Builder::small();
        if let Some(t) = b.tensors.iter_mut().find(|t| t.0 == last) {
            t.1 = dims;
        }
        assert_eq!(code(b.file()), want);
    }
    let mut b = Builder::small();
    b.tensors[3].2 = 12;
    assert_eq!(code(b.file()), "gguf-tensor-type");
    let mut b = Builder::small();
    let again = b.tensors[3].clone();
    b.tensors.push(again);
    assert_eq!(code(b.file()), "gguf-twice");
}

#[test]
fn the_model_must_be_one_we_run() {
    assert_eq!(code(changed("general.architecture", strv("gpt2"))), "model-architecture");
    for (key, value) in [
        ("llama.block_count", u32v(0)),
        ("llama.block_count", u32v(100_000)),
        ("llama.embedding_length", u32v(33)),
        ("llama.attention.head_count", u32v(5)),
        ("llama.attention.head_count", u32v(32)),
        ("llama.attention.head_count_kv", u32v(3)),
        ("llama.rope.dimension_count", u32v(4)),
        ("llama.attention.layer_norm_rms_epsilon", f32v(-1.0)),
        ("llama.attention.layer_norm_rms_epsilon", f32v(f32::NAN)),
        ("llama.rope.freq_base", f32v(f32::INFINITY)),
        ("llama.rope.scaling.type", strv("yarn")),
        ("llama.expert_count", u32v(8)),
    ] {
        assert_eq!(code(changed(key, value)), "model-range", "{key}");
    }
    assert_eq!(code(changed("llama.block_count", strv("two"))), "model-key");
    assert_eq!(code(changed("llama.block_count", u32v(1))), "model-tensor-unknown");
    assert_eq!(code(changed("llama.block_count", u32v(3))), "model-tensor-missing");
    assert_eq!(code(changed("llama.feed_forward_length", u32v(96))), "model-shape");
    let mut b = Builder::small();
    b.tensor("blk.0.attn_q.weight", &[DIM, DIM], 1);
    assert_eq!(code(b.file()), "model-storage");
    let mut b = Builder::small();
    b.tensor("output_norm.weight", &[DIM], 1);
    assert_eq!(code(b.file()), "model-storage");
    // an output of its own instead of the tied embedding
    let mut b = Builder::small();
    b.tensor("output.weight", &[DIM, common::VOCAB], 3);
    run(&mut load(b.file()).expect("an untied head is fine"));
}

#[test]
fn the_vocabulary_must_fit() {
    assert_eq!(code(changed("tokenizer.ggml.model", strv("llama"))), "tokenizer-kind");
    assert_eq!(code(changed("tokenizer.ggml.pre", strv("deepseek"))), "tokenizer-kind");
    assert_eq!(code(changed("tokenizer.ggml.tokens", u32v(1))), "tokenizer-key");
    assert_eq!(code(changed("tokenizer.ggml.tokens", strings(&["a".into()]))), "tokenizer-length");
    assert_eq!(code(changed("tokenizer.ggml.token_type", ints(&[1; 10]))), "tokenizer-length");
    assert_eq!(code(changed("tokenizer.ggml.merges", strings(&["nospace".into()]))), "tokenizer-entry");
    assert_eq!(code(changed("tokenizer.ggml.merges", strings(&["q q".into()]))), "tokenizer-entry");
    assert_eq!(code(changed("tokenizer.ggml.eos_token_id", u32v(9999))), "tokenizer-special");
    let odd: Vec<String> = (0..common::VOCAB).map(|i| format!("北{i}")).collect();
    assert_eq!(code(changed("tokenizer.ggml.tokens", strings(&odd))), "tokenizer-entry");
    assert_eq!(code(changed("tokenizer.chat_template", strv("[INST]"))), "chat-template");
}

#[test]
fn a_window_is_kept_within_its_bounds() {
    for ctx in [0, 1, usize::MAX] {
        let s = Session::load(Builder::small().file(), ctx).expect("clamped");
        assert!((64..=256).contains(&s.ctx()), "the trained window is the most");
    }
}
