// The on-device model in this browser, one worker, each module: prefill and decode beside what
// reading the weights once a token would allow, at the read bandwidth measured in the same run.
import { Shell } from "../e2e/lib/harness.mjs";
import { figure, median } from "./lib/figure.mjs";

const PROMPT = 128; // tokens that are really run; what the cache serves is not counted
const DECODE = 64;
const RUNS = 3;
const MODEL = {
  url: "/model/SmolLM2-135M-Instruct.Q4_1.gguf", bytes: 98_362_432, name: "SmolLM2-135M-Instruct",
  sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
};
/*
 * (func (export "read") (param $at i32) (param $end i32) (result i64)): adds up four v128 streams of
 * 64 bytes a turn, so that nothing but memory is waited for.
 */
const READ = "AGFzbQEAAAABBwFgAn9/AX4DAgEABQMBAAEHEQIGbWVtb3J5AgAEcmVhZAAACmgBZgEEewNAIAIgAP0ABAD9zgEhAiADIAD9AAQQ/c4BIQMgBCAA/QAEIP3OASEEIAUgAP0ABDD9zgEhBSAAQcAAaiIAIAFJDQALIAIgA/3OASAEIAX9zgH9zgEhAiAC/R0AIAL9HQF8Cw==";

/** Bytes a second that one thread reads from a buffer as large as the model: best of a few. */
async function bandwidth({ READ, bytes }) {
  const code = Uint8Array.from(atob(READ), (c) => c.charCodeAt(0));
  const { instance } = await WebAssembly.instantiate(code);
  const { memory, read } = instance.exports;
  memory.grow(Math.ceil(bytes / 65536));
  new Uint8Array(memory.buffer).fill(1);
  let best = 0;
  for (let n = 0; n < 8; n++) {
    const from = performance.now();
    read(0, bytes - (bytes % 64));
    best = Math.max(best, bytes / (performance.now() - from) * 1000);
  }
  return best;
}

/** Loads the model with one module and asks a few times; gives the info and each run's usage. */
async function ask({ MODEL, modules, prompts, decode }) {
  const worker = new Worker("/llm-worker.js");
  try {
    const heard = (wanted) => new Promise((done, failed) => {
      worker.onerror = (event) => failed(new Error(event.message || "the worker ended"));
      worker.onmessage = ({ data }) => {
        if (["error", "lost", "quota"].includes(data.ev)) failed(new Error(JSON.stringify(data)));
        else if (data.ev === wanted) done(data);
      };
    });
    worker.postMessage({ op: "load", model: MODEL, modules });
    const { info } = await heard("ready");
    const usages = [];
    for (const [n, content] of prompts.entries()) {
      const sampling = { temperature: 0, penalty: 1.1, maxTokens: decode };
      worker.postMessage({ op: "chat", run: n + 1, messages: [{ role: "user", content }], sampling });
      const { usage } = await heard("end");
      usages.push(usage);
    }
    return { info, usages };
  } finally {
    worker.terminate();
  }
}

// Any small page of the site will do: the shell and its own worker would share the processor.
const shell = await Shell.open({ path: "/splash.css", ready: false });
try {
  const read = await shell.eval(bandwidth, { READ, bytes: MODEL.bytes });
  figure("memory read, one thread, in wasm", read / 1e9, "GB/s");
  // Different from the first word on, so that nothing of one run's cache serves the next.
  const names = ["Tides", "Harbours", "Lighthouses", "Charts"];
  const sentence = (n) => `${names[n % names.length]} were written down in the old book by the men who kept the light. `;
  const short = Array.from({ length: RUNS + 1 }, (_, n) => sentence(n).repeat(4) + "Write a long story of all that they saw.");
  // The tokenizer has the last word: count once, then fill up with a word of one token.
  const counted = await shell.eval(ask, { MODEL, modules: { simd: "/llm/simd.wasm" }, prompts: short, decode: 1 });
  const prompts = short.map((text, n) => text + " and".repeat(PROMPT - counted.usages[n].prompt + counted.usages[n].cached));
  const sets = [["simd", { simd: "/llm/simd.wasm" }], ["relaxed", { relaxed: "/llm/relaxed.wasm" }]];
  for (const [name, modules] of sets) {
    let told;
    try {
      told = await shell.eval(ask, { MODEL, modules, prompts, decode: DECODE });
    } catch (error) {
      // A browser without the relaxed instructions says so; that is an answer.
      if (name === "relaxed" && /no-simd/.test(error.message)) {
        console.log("  this browser has no relaxed SIMD");
        continue;
      }
      throw error;
    }
    const usages = told.usages.slice(1); // the first one warms up
    const bound = read / told.info.bytesPerToken;
    const peer = "every weight read once a token";
    const tokens = median(usages.map((u) => u.prompt - u.cached));
    if (tokens !== PROMPT) throw new Error(`${tokens} tokens were run, not ${PROMPT}`);
    const made = median(usages.map((u) => u.completion));
    if (made < DECODE / 4) throw new Error(`only ${made} tokens came: no speed of decoding`);
    figure(`model, ${name}: prefill at ${tokens}`, median(usages.map((u) => (u.prompt - u.cached) / u.prefillMs * 1000)), "tok/s", {
      peer: [peer, bound], moreIsBetter: true, note: `kernel ${told.info.kernel}`,
    });
    figure(`model, ${name}: decode`, median(usages.map((u) => (u.completion - 1) / u.decodeMs * 1000)), "tok/s", {
      budget: 40, peer: [peer, bound], moreIsBetter: true, note: `${made} tokens`,
    });
  }
} finally {
  await shell.close();
}
