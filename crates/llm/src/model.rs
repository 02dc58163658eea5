//! A llama-architecture model inside its file: shapes checked, weights packed where they lie.

use crate::error::{LoadError, Refusal};
use crate::gguf::{Dtype, Gguf, Tensor};
use crate::kernels::{BLOCK, Matrix, Packed, pack};
use std::fmt;

/// Largest vocabulary taken.
pub const MAX_VOCAB: usize = 1 << 18;
/// Most layers taken.
pub const MAX_LAYERS: usize = 256;
/// Largest width of any layer.
pub const MAX_WIDTH: usize = 1 << 16;
/// Widest attention head taken.
pub const MAX_HEAD: usize = 512;

/// Why a well-formed file holds no model for this engine.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelError {
    /// Another architecture.
    Architecture(String),
    /// A metadata key that is missing or of the wrong kind.
    Key(String),
    /// A number outside its bounds.
    Range {
        /// The key.
        key: String,
        /// What is taken.
        expected: String,
        /// What the file says.
        found: String,
    },
    /// A tensor the architecture needs and the file lacks.
    Missing(String),
    /// A tensor the architecture does not know: running without it would give wrong numbers silently.
    Unknown(String),
    /// A tensor of the wrong shape.
    Shape {
        /// Tensor name.
        tensor: String,
        /// What the metadata calls for, fastest size first.
        expected: Vec<usize>,
        /// What the file holds.
        found: Vec<usize>,
    },
    /// A tensor in a storage the kernels do not run.
    Storage {
        /// Tensor name.
        tensor: String,
        /// Its storage.
        found: Dtype,
    },
}

impl ModelError {
    /// The refusal to show.
    pub fn refusal(&self) -> Refusal {
        match self {
            Self::Architecture(a) => Refusal::new("model-architecture", "general.architecture", "llama", a.clone()),
            Self::Key(k) => Refusal::new("model-key", k.clone(), "a value of the right kind", "none"),
            Self::Range { key, expected, found } => {
                Refusal::new("model-range", key.clone(), expected.clone(), found.clone())
            }
            Self::Missing(t) => Refusal::new("model-tensor-missing", t.clone(), "a tensor", "none"),
            Self::Unknown(t) => Refusal::new("model-tensor-unknown", t.clone(), "no such tensor", "one"),
            Self::Shape { tensor, expected, found } => {
                Refusal::new("model-shape", tensor.clone(), format!("{expected:?}"), format!("{found:?}"))
            }
            Self::Storage { tensor, found } => {
                Refusal::new("model-storage", tensor.clone(), "Q4_0, Q4_1 or Q8_0; norms F32", format!("{found:?}"))
            }
        }
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refusal().fmt(f)
    }
}
impl std::error::Error for ModelError {}

/// The numbers that describe the network.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Layers.
    pub layers: usize,
    /// Width of the residual stream.
    pub dim: usize,
    /// Width of the feed-forward part.
    pub ffn: usize,
    /// Query heads.
    pub heads: usize,
    /// Key and value heads, each shared by `heads / kv_heads` query heads.
    pub kv_heads: usize,
    /// Width of a head.
    pub head: usize,
    /// Tokens of the vocabulary.
    pub vocab: usize,
    /// Window the model was trained for.
    pub trained_ctx: usize,
    /// Epsilon of RMSNorm.
    pub eps: f32,
    /// Base of the rotary embedding.
    pub rope_base: f32,
}

impl Config {
    fn read(g: &Gguf<'_>) -> Result<Self, ModelError> {
        let arch = g.text("general.architecture").unwrap_or("");
        if arch != "llama" {
            return Err(ModelError::Architecture(arch.to_owned()));
        }
        let number = |key: &str, max: usize| {
            let found = g.uint(key).ok_or_else(|| ModelError::Key(key.to_owned()))?;
            match usize::try_from(found) {
                Ok(n) if n >= 1 && n <= max => Ok(n),
                _ => Err(range(key, format!("1 to {max}"), found)),
            }
        };
        let layers = number("llama.block_count", MAX_LAYERS)?;
        let dim = number("llama.embedding_length", MAX_WIDTH)?;
        let ffn = number("llama.feed_forward_length", MAX_WIDTH)?;
        let heads = number("llama.attention.head_count", 1024)?;
        let kv_heads = number("llama.attention.head_count_kv", 1024)?;
        let trained_ctx = number("llama.context_length", 1 << 24)?;
        for (key, n) in [("llama.embedding_length", dim), ("llama.feed_forward_length", ffn)] {
            if n % BLOCK != 0 {
                return Err(range(key, "a multiple of 32", n));
            }
        }
        if dim % heads != 0 || dim / heads % 8 != 0 || dim / heads > MAX_HEAD {
            return Err(range("llama.attention.head_count", "heads of 8 to 512 in steps of 8", heads));
        }
        if heads % kv_heads != 0 {
            return Err(range("llama.attention.head_count_kv", format!("a divisor of {heads}"), kv_heads));
        }
        let head = dim / heads;
        for key in ["llama.attention.key_length", "llama.attention.value_length", "llama.rope.dimension_count"] {
            if let Some(n) = g.uint(key)
                && n != head as u64
            {
                return Err(range(key, head, n));
            }
        }
        if let Some(kind) = g.text("llama.rope.scaling.type")
            && kind != "none"
        {
            return Err(range("llama.rope.scaling.type", "none", kind));
        }
        if let Some(n) = g.uint("llama.expert_count")
            && n != 0
        {
            return Err(range("llama.expert_count", "0", n));
        }
        let eps_key = "llama.attention.layer_norm_rms_epsilon";
        let eps = g.float(eps_key).ok_or_else(|| ModelError::Key(eps_key.to_owned()))?;
        if !(eps > 0.0 && eps < 1.0) {
            return Err(range(eps_key, "between 0 and 1", eps));
        }
        let rope_base = g.float("llama.rope.freq_base").unwrap_or(10_000.0);
        if !(rope_base >= 1.0 && rope_base.is_finite()) {
            return Err(range("llama.rope.freq_base", "at least 1", rope_base));
        }
        let vocab = match g.tensors.get("token_embd.weight").map(|t| t.dims.as_slice()) {
            Some([_, rows]) if (4..=MAX_VOCAB).contains(rows) && rows % 4 == 0 => *rows,
            Some(other) => {
                return Err(range(
                    "token_embd.weight",
                    format!("4 to {MAX_VOCAB} rows in fours"),
                    format!("{other:?}"),
                ));
            }
            None => return Err(ModelError::Missing("token_embd.weight".to_owned())),
        };
        Ok(Self { layers, dim, ffn, heads, kv_heads, head, vocab, trained_ctx, eps, rope_base })
    }
}

fn range(key: &str, expected: impl ToString, found: impl ToString) -> ModelError {
    ModelError::Range { key: key.to_owned(), expected: expected.to_string(), found: found.to_string() }
}

/// Where a packed matrix lies in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    at: usize,
    len: usize,
    packed: Packed,
    pub(crate) rows: usize,
    cols: usize,
}

#[derive(Debug)]
pub(crate) struct Layer {
    pub attn_norm: Vec<f32>,
    pub ffn_norm: Vec<f32>,
    pub q: Place,
    pub k: Place,
    pub v: Place,
    pub o: Place,
    pub gate: Place,
    pub up: Place,
    pub down: Place,
}

/// Weights and shapes.
#[derive(Debug)]
pub struct Model {
    bytes: Vec<u8>,
    /// The network's numbers.
    pub config: Config,
    pub(crate) layers: Vec<Layer>,
    pub(crate) embedding: Place,
    pub(crate) head: Place,
    pub(crate) norm: Vec<f32>,
}

/// The directory as it is consumed: what is left over at the end is unknown.
struct Directory<'a> {
    bytes: &'a [u8],
    left: std::collections::BTreeMap<&'a str, Tensor>,
}

impl Directory<'_> {
    fn take(&mut self, name: &str, dims: &[usize]) -> Result<Tensor, ModelError> {
        let t = self.left.remove(name).ok_or_else(|| ModelError::Missing(name.to_owned()))?;
        if t.dims != dims {
            return Err(ModelError::Shape { tensor: name.to_owned(), expected: dims.to_vec(), found: t.dims });
        }
        Ok(t)
    }
    fn matrix(&mut self, name: &str, cols: usize, rows: usize) -> Result<Place, ModelError> {
        let t = self.take(name, &[cols, rows])?;
        let packed = match t.dtype {
            Dtype::Q4_0 => Packed::Q4_0,
            Dtype::Q4_1 => Packed::Q4_1,
            Dtype::Q8_0 => Packed::Q8_0,
            found => return Err(ModelError::Storage { tensor: name.to_owned(), found }),
        };
        if !rows.is_multiple_of(4) {
            return Err(ModelError::Shape {
                tensor: name.to_owned(),
                expected: vec![cols, rows.next_multiple_of(4)],
                found: t.dims,
            });
        }
        Ok(Place { at: t.at, len: t.len, packed, rows, cols })
    }
    fn floats(&mut self, name: &str, n: usize) -> Result<Vec<f32>, ModelError> {
        let t = self.take(name, &[n])?;
        if t.dtype != Dtype::F32 {
            return Err(ModelError::Storage { tensor: name.to_owned(), found: t.dtype });
        }
        Ok(self.bytes[t.at..t.at + t.len].as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect())
    }
}

impl Model {
    /// Takes the file, checks every tensor against the metadata, and packs the weights in place.
    ///
    /// # Errors
    /// [`LoadError`] with the first thing that does not fit.
    pub fn load(mut bytes: Vec<u8>) -> Result<Self, LoadError> {
        let g = Gguf::parse(&bytes)?;
        let config = Config::read(&g)?;
        let mut d = Directory { bytes: &bytes, left: g.tensors };
        let (dim, ffn, kv) = (config.dim, config.ffn, config.kv_heads * config.head);
        let embedding = d.matrix("token_embd.weight", dim, config.vocab)?;
        let head = if d.left.contains_key("output.weight") {
            d.matrix("output.weight", dim, config.vocab)?
        } else {
            embedding
        };
        let norm = d.floats("output_norm.weight", dim)?;
        let mut layers = Vec::new();
        for i in 0..config.layers {
            let name = |part: &str| format!("blk.{i}.{part}.weight");
            layers.push(Layer {
                attn_norm: d.floats(&name("attn_norm"), dim)?,
                ffn_norm: d.floats(&name("ffn_norm"), dim)?,
                q: d.matrix(&name("attn_q"), dim, dim)?,
                k: d.matrix(&name("attn_k"), dim, kv)?,
                v: d.matrix(&name("attn_v"), dim, kv)?,
                o: d.matrix(&name("attn_output"), dim, dim)?,
                gate: d.matrix(&name("ffn_gate"), dim, ffn)?,
                up: d.matrix(&name("ffn_up"), dim, ffn)?,
                down: d.matrix(&name("ffn_down"), ffn, dim)?,
            });
        }
        if let Some(name) = d.left.keys().next() {
            return Err(ModelError::Unknown((*name).to_owned()).into());
        }
        let mut model = Self { bytes: Vec::new(), config, layers, embedding, head, norm };
        for place in model.places() {
            pack::pack(place.packed, &mut bytes[place.at..place.at + place.len], place.cols);
        }
        model.bytes = bytes;
        Ok(model)
    }

    /// Every packed matrix once: a tied head is the embedding and must not be packed twice.
    fn places(&self) -> Vec<Place> {
        let mut all = vec![self.embedding];
        if self.head.at != self.embedding.at {
            all.push(self.head);
        }
        for l in &self.layers {
            all.extend([l.q, l.k, l.v, l.o, l.gate, l.up, l.down]);
        }
        all
    }

    pub(crate) fn matrix(&self, p: Place) -> Matrix<'_> {
        Matrix { bytes: &self.bytes[p.at..p.at + p.len], packed: p.packed, rows: p.rows, cols: p.cols }
    }

    /// Bytes of the file.
    pub fn file_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Weight bytes that one decoded token reads: every matrix once, the head included.
    pub fn bytes_per_token(&self) -> usize {
        let norms = (2 * self.layers.len() + 1) * self.config.dim * 4;
        let tied = self.head.at == self.embedding.at;
        self.places().iter().map(|p| p.len).sum::<usize>() + norms - if tied { 0 } else { self.embedding.len }
    }
}
