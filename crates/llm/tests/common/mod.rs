//! A whole model of a few kilobytes, written byte by byte: what the tests without the real file run on.
#![allow(dead_code, reason = "each test file uses a part")]

/// Metadata and tensors on their way into a file.
pub struct Builder {
    pub meta: Vec<(String, Vec<u8>)>,
    pub tensors: Vec<(String, Vec<u64>, u32, Vec<u8>)>,
    seed: u64,
}

pub const DIM: u64 = 32;
pub const FFN: u64 = 64;
pub const KV: u64 = 16;
pub const VOCAB: u64 = 264;
pub const TEMPLATE: &str = "{{'<|im_start|>system\\nYou are small.<|im_end|>'}}{{'<|im_start|>' + role}}";

pub fn string(s: &str) -> Vec<u8> {
    let mut out = (s.len() as u64).to_le_bytes().to_vec();
    out.extend_from_slice(s.as_bytes());
    out
}
fn typed(kind: u32, bytes: &[u8]) -> Vec<u8> {
    [&kind.to_le_bytes()[..], bytes].concat()
}
pub fn u32v(n: u32) -> Vec<u8> {
    typed(4, &n.to_le_bytes())
}
pub fn f32v(n: f32) -> Vec<u8> {
    typed(6, &n.to_le_bytes())
}
pub fn strv(s: &str) -> Vec<u8> {
    typed(8, &string(s))
}
pub fn strings(all: &[String]) -> Vec<u8> {
    let mut out = typed(9, &8u32.to_le_bytes());
    out.extend((all.len() as u64).to_le_bytes());
    all.iter().for_each(|s| out.extend(string(s)));
    out
}
pub fn ints(all: &[i32]) -> Vec<u8> {
    let mut out = typed(9, &5u32.to_le_bytes());
    out.extend((all.len() as u64).to_le_bytes());
    all.iter().for_each(|n| out.extend(n.to_le_bytes()));
    out
}

impl Builder {
    /// Two layers, four query heads over two key-value heads, all three storages.
    pub fn small() -> Self {
        let mut b = Self { meta: vec![], tensors: vec![], seed: 1 };
        b.meta("general.architecture", strv("llama"));
        for (key, n) in [
            ("llama.block_count", 2),
            ("llama.context_length", 256),
            ("llama.embedding_length", DIM as u32),
            ("llama.feed_forward_length", FFN as u32),
            ("llama.attention.head_count", 4),
            ("llama.attention.head_count_kv", 2),
        ] {
            b.meta(key, u32v(n));
        }
        b.meta("llama.attention.layer_norm_rms_epsilon", f32v(1e-5));
        b.meta("llama.rope.freq_base", f32v(10_000.0));
        b.meta("tokenizer.ggml.model", strv("gpt2"));
        b.meta("tokenizer.ggml.pre", strv("smollm"));
        let mut tokens: Vec<String> = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"].map(String::from).to_vec();
        tokens.extend(byte_letters());
        tokens.extend(["th", "the", "Ġthe", "Ġt", "in"].map(String::from));
        assert_eq!(tokens.len() as u64, VOCAB);
        let types: Vec<i32> = (0..tokens.len()).map(|i| if i < 3 { 3 } else { 1 }).collect();
        b.meta("tokenizer.ggml.tokens", strings(&tokens));
        b.meta("tokenizer.ggml.token_type", ints(&types));
        b.meta("tokenizer.ggml.merges", strings(&["t h", "th e", "Ġ the", "Ġ t", "i n"].map(String::from)));
        b.meta("tokenizer.ggml.eos_token_id", u32v(2));
        b.meta("tokenizer.chat_template", strv(TEMPLATE));
        b.tensor("token_embd.weight", &[DIM, VOCAB], 8);
        b.tensor("output_norm.weight", &[DIM], 0);
        for l in 0..2 {
            let name = |part: &str| format!("blk.{l}.{part}.weight");
            let q4 = if l == 0 { 3 } else { 2 };
            b.tensor(&name("attn_norm"), &[DIM], 0);
            b.tensor(&name("ffn_norm"), &[DIM], 0);
            for (part, cols, rows) in [
                ("attn_q", DIM, DIM),
                ("attn_k", DIM, KV),
                ("attn_v", DIM, KV),
                ("attn_output", DIM, DIM),
                ("ffn_gate", DIM, FFN),
                ("ffn_up", DIM, FFN),
                ("ffn_down", FFN, DIM),
            ] {
                b.tensor(&name(part), &[cols, rows], q4);
            }
        }
        b
    }

    pub fn meta(&mut self, key: &str, value: Vec<u8>) {
        match self.meta.iter_mut().find(|m| m.0 == key) {
            Some(m) => m.1 = value,
            None => self.meta.push((key.to_owned(), value)),
        }
    }

    pub fn random(&mut self) -> u64 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed
    }

    pub fn tensor(&mut self, name: &str, dims: &[u64], kind: u32) {
        let (per, size, scales) = match kind {
            0 => (1, 4, 0),
            1 => (1, 2, 0),
            2 => (32, 18, 2),
            3 => (32, 20, 4),
            8 => (32, 34, 2),
            _ => (1, 1, 0),
        };
        let count = dims.iter().product::<u64>() / per;
        let mut data = vec![];
        for _ in 0..count {
            if kind == 0 {
                data.extend(1f32.to_le_bytes());
                continue;
            }
            for i in 0..size {
                let byte = self.random() as u8;
                // scales of ordinary size and either sign
                data.push(if i < scales && i % 2 == 1 { 0x28 | (byte & 0x83) } else { byte });
            }
        }
        self.tensors.retain(|t| t.0 != name);
        self.tensors.push((name.to_owned(), dims.to_vec(), kind, data));
    }

    /// The file; `edit` may change the offsets of the directory.
    pub fn file_with(&self, edit: impl Fn(&str, u64) -> u64) -> Vec<u8> {
        let mut out = b"GGUF".to_vec();
        out.extend(3u32.to_le_bytes());
        out.extend((self.tensors.len() as u64).to_le_bytes());
        out.extend((self.meta.len() as u64).to_le_bytes());
        for (key, value) in &self.meta {
            out.extend(string(key));
            out.extend(value);
        }
        let mut data = vec![];
        for (name, dims, kind, bytes) in &self.tensors {
            out.extend(string(name));
            out.extend((dims.len() as u32).to_le_bytes());
            dims.iter().for_each(|d| out.extend(d.to_le_bytes()));
            out.extend(kind.to_le_bytes());
            out.extend(edit(name, data.len() as u64).to_le_bytes());
            data.extend(bytes);
            data.resize(data.len().next_multiple_of(32), 0);
        }
        out.resize(out.len().next_multiple_of(32), 0);
        out.extend(data);
        out
    }

    pub fn file(&self) -> Vec<u8> {
        self.file_with(|_, offset| offset)
    }
}

/// GPT-2's letters of the 256 bytes.
pub fn byte_letters() -> Vec<String> {
    let mut next = 256;
    (0u32..256)
        .map(|b| {
            let code = if matches!(b, 33..=126 | 161..=172 | 174..=255) {
                b
            } else {
                next += 1;
                next - 1
            };
            char::from_u32(code).expect("letter").to_string()
        })
        .collect()
}
