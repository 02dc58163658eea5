// The on-device model in a worker: gets the file, keeps it, runs it.
//
// The worker owns one engine (crates/llm as a WebAssembly module) and one model. Everything is a message.
//
// IN
//  {op:"load", model:{url, bytes, sha256, name}, modules:{relaxed, simd}, ctx?, persist?, run?, hooks?}
//      Chooses a module, gets the model (stored and verified, else fetched), loads it. `persist:false` keeps it in
//      memory only: the way out of a full storage. `run` lets a "cancel" stop the download. `hooks` allows "trap".
//  {op:"chat", run, messages:[{role, content}], assistantPrefix?, stop?:[text], constrain?:[part],
//   sampling:{temperature, topK, topP, penalty, seed, maxTokens}}
//      part: {literal}, {text:max}, {oneOf:[..]}, {span:text, max}, {int:maxDigits}. Under a constraint the best
//      allowed token is taken.
//  {op:"score", run, messages | text, assistantPrefix?, candidates:[text]}
//  {op:"count", id, text}
//  {op:"cancel", run}      stops that run, waiting or working; unknown runs are none of its business
//  {op:"forget", sha256}   removes a stored model
//  {op:"trap"}             for tests: makes the engine trap
//
// OUT
//  {ev:"progress", phase:"download"|"verify"|"load", done, total}
//      A download is never reported whole before its digest matched.
//  {ev:"ready", info:{name, kernel, ctx, bytes, persisted, source:"stored"|"network", loadMs, vocab, bytesPerToken}}
//  {ev:"quota", need, have, used}      bytes (have null where the browser does not say); nothing was kept that claims to be the model
//  {ev:"trimmed", run, dropped}        the oldest turns left whole: so many messages
//  {ev:"prefill", run, done, total}    tokens of the prompt (of all work, when scoring)
//  {ev:"delta", run, text}             whole characters
//  {ev:"end", run, reason:"stop"|"length"|"cancelled"|"empty", usage:{prompt, cached, completion, prefillMs, decodeMs}}
//  {ev:"scores", run, scores:[mean log-probability], sums:[..], tokens:[..], usage:{prompt, cached}}
//  {ev:"count", id, tokens}            -1 while no model is loaded
//  {ev:"forgotten", sha256, bytes}
//  {ev:"error", code, message, run?, subject?, expected?, observed?}   the run, if any, is over
//  {ev:"lost", message, run?}          the engine trapped: this worker is of no use any more, start another
//
// Runs wait in a line and go one at a time. Between two tokens, and between two chunks of a prompt, the worker looks
// at its messages, so a stop is quick even before the first token; its mark is kept on the run and goes with it.
'use strict';

const VERSION = 1; // of the byte protocol, crates/llm/src/port.rs
const DEFAULT_CTX = 2048;
const RESERVE = 16 << 20; // bytes of the quota left to drafts, transcripts and receipts
const READ = 4 << 20; // bytes of a stored file copied at a time
const FOLDER = 'models';
const REASONS = ['stop', 'length', 'cancelled', 'empty'];
const DID = { OK: 0, REFUSED: 1, PREFILL: 2, TEXT: 3, END: 4, SCORES: 5, IDLE: 6 };

// (func (result v128) i16x8.relaxed_dot_i8x16_i7x16_s of two splats), and the same with i32x4.dot_i16x8_s
const probe = (...op) =>
  WebAssembly.validate(
    new Uint8Array([
      0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 5, 1, 0x60, 0, 1, 0x7b, 3, 2, 1, 0, 10, 15, 1, 13, 0, 0x41, 0, 0xfd, 0x0f,
      0x41, 0, 0xfd, 0x0f, 0xfd, ...op, 0x0b,
    ]),
  );
const hasRelaxed = () => probe(0x92, 0x02);
const hasSimd = () => probe(0xba, 0x01);

let engine = null; // exports of the module
let lost = null; // message, once the engine trapped
let hooks = false;
let current = null;
const line = []; // runs and loads that wait
const decoder = new TextDecoder();
const encoder = new TextEncoder();

class Refused extends Error {
  constructor(code, message, more = {}) {
    super(message);
    this.code = code;
    this.more = more;
  }
}
class Lost extends Error {}
class Quota extends Error {
  constructor(numbers) {
    super('storage is full');
    this.numbers = numbers;
  }
}

// Every call into the module goes through here: whatever it throws is the end of it.
function call(name, ...args) {
  if (!engine) throw new Lost(lost ?? 'no engine');
  try {
    return engine[name](...args) >>> 0;
  } catch (e) {
    throw new Lost(String(e && e.message ? e.message : e));
  }
}
const memory = (at, length) => new Uint8Array(engine.memory.buffer, at, length);
const out = () => memory(call('llm_out'), call('llm_out_len')).slice();
const text = () => decoder.decode(out());
const numbers = () => new Uint32Array(out().buffer);

function refusal() {
  const [code, subject, expected, observed] = text().split('\n');
  return new Refused(code, `${subject}: expected ${expected}, found ${observed}`, { subject, expected, observed });
}
function must(did) {
  if (did === DID.REFUSED) throw refusal();
  return did;
}
function request(bytes) {
  const at = call('llm_input', bytes.length);
  if (!at) throw new Refused('request-size', `a request of ${bytes.length} bytes is too large`);
  memory(at, bytes.length).set(bytes);
}

class Writer {
  bytes = new Uint8Array(1 << 12);
  at = 0;
  room(n) {
    if (this.at + n > this.bytes.length) {
      const more = new Uint8Array(Math.max(2 * this.bytes.length, this.at + n));
      more.set(this.bytes);
      this.bytes = more;
    }
    const view = new DataView(this.bytes.buffer, this.at, n);
    this.at += n;
    return view;
  }
  u32(n) {
    this.room(4).setUint32(0, n, true);
    return this;
  }
  f32(n) {
    this.room(4).setFloat32(0, n, true);
    return this;
  }
  text(s) {
    const bytes = encoder.encode(String(s ?? ''));
    this.u32(bytes.length).room(bytes.length);
    this.bytes.set(bytes, this.at - bytes.length);
    return this;
  }
  list(items, each) {
    const all = Array.isArray(items) ? items : [];
    this.u32(all.length);
    all.forEach((item) => each(item));
    return this;
  }
  messages(items) {
    return this.list(items, (m) => this.text(m.role).text(m.content));
  }
  part(p) {
    if (p.literal !== undefined) return this.u32(0).text(p.literal);
    if (p.text !== undefined) return this.u32(1).u32(whole(p.text, 0));
    if (p.oneOf !== undefined) return this.u32(2).list(p.oneOf, (o) => this.text(o));
    if (p.span !== undefined) return this.u32(3).u32(whole(p.max, 0)).text(p.span);
    return this.u32(4).u32(whole(p.int, 0));
  }
  done() {
    return this.bytes.subarray(0, this.at);
  }
}
const number = (x, other) => (typeof x === 'number' && Number.isFinite(x) ? x : other);
const whole = (x, other) => Math.min(Math.max(Math.floor(number(x, other)), 0), 0xffff_ffff);

// A turn of the event loop without the clamp of timers.
const channel = new MessageChannel();
const turn = () =>
  new Promise((go) => {
    channel.port1.onmessage = go;
    channel.port2.postMessage(0);
  });

// ---- getting the model ----------------------------------------------------------------------------------------

let lastProgress = 0;
function progress(phase, done, total) {
  const now = performance.now();
  if (done < total && now - lastProgress < 100) return;
  lastProgress = now;
  postMessage({ ev: 'progress', phase, done, total });
}

async function compile(url) {
  const response = await fetch(url).catch((e) => {
    throw new Refused('network', `the engine module cannot be fetched: ${e.message}`);
  });
  if (!response.ok) throw new Refused('http', `the engine module: status ${response.status}`);
  try {
    return await WebAssembly.compile(await response.arrayBuffer());
  } catch (e) {
    throw new Refused('module', `the engine module does not compile: ${e.message}`);
  }
}

async function start(modules) {
  const choices = [];
  if (modules.relaxed && hasRelaxed()) choices.push(modules.relaxed);
  if (modules.simd && hasSimd()) choices.push(modules.simd);
  if (!choices.length) throw new Refused('no-simd', 'this browser has no WebAssembly SIMD');
  let last;
  for (const url of choices) {
    try {
      const module = await compile(url);
      engine = (await WebAssembly.instantiate(module, {})).exports;
      if (call('llm_version') !== VERSION) throw new Refused('module', `the engine module is of another version`);
      must(call('llm_check'));
      return;
    } catch (e) {
      // a machine on which relaxed instructions differ gets the strict module; a module that traps here, too
      last = e instanceof Lost ? new Refused('module', e.message) : e;
      engine = null;
    }
  }
  throw last;
}

async function folder() {
  try {
    const root = await navigator.storage.getDirectory();
    const dir = await root.getDirectoryHandle(FOLDER, { create: true });
    // some browsers have the directory but no way to write from a worker
    return 'createSyncAccessHandle' in FileSystemFileHandle.prototype ? dir : null;
  } catch {
    return null;
  }
}
const maybe = (promise) => promise.catch(() => null);
const remove = (dir, name) => maybe(dir.removeEntry(name));

async function sizeOf(dir, name) {
  const handle = await maybe(dir.getFileHandle(name));
  const file = handle && (await maybe(handle.getFile()));
  return file ? file.size : 0;
}

// The record is written only after the whole digest matched; without it a file is only a part.
async function stored(dir, model) {
  const handle = await maybe(dir.getFileHandle(`${model.sha256}.ok`));
  const record = handle && (await maybe(handle.getFile().then((f) => f.text()).then(JSON.parse)));
  if (!record || record.sha256 !== model.sha256 || record.bytes !== model.bytes) return null;
  const file = await maybe(dir.getFileHandle(String(record.file)).then((h) => h.getFile()));
  return file && file.size === model.bytes ? file : null;
}

async function record(dir, model, file) {
  const handle = await dir.getFileHandle(`${model.sha256}.ok`, { create: true });
  const access = await handle.createSyncAccessHandle();
  try {
    access.truncate(0);
    access.write(encoder.encode(JSON.stringify({ sha256: model.sha256, bytes: model.bytes, file })));
    access.flush();
  } finally {
    access.close();
  }
}

async function forget(dir, sha256) {
  // the record first: a file without it claims nothing
  await remove(dir, `${sha256}.ok`);
  await remove(dir, `${sha256}.gguf`);
  await remove(dir, `${sha256}.part`);
}

function room(model) {
  const at = call('llm_file', model.bytes);
  if (!at) throw new Refused('memory', `no memory for ${model.bytes} bytes of model`);
  return at;
}

async function readStored(file, at, total, phase, hash) {
  for (let from = 0; from < total; from += READ) {
    const piece = new Uint8Array(await file.slice(from, Math.min(from + READ, total)).arrayBuffer());
    memory(at + from, piece.length).set(piece);
    if (hash) call('llm_hash', from, piece.length);
    progress(phase, Math.min(from + READ, total - 1), total);
  }
}

function digest() {
  call('llm_digest');
  return text();
}

// Fetches the model into memory and, where there is a folder, into a part file that a later start can go on with.
async function download(dir, model, at, signal) {
  const part = `${model.sha256}.part`;
  const handle = dir && (await dir.getFileHandle(part, { create: true }));
  const access = handle && (await handle.createSyncAccessHandle());
  let done = 0;
  let keep = true;
  try {
    if (access) {
      const held = access.getSize() > model.bytes ? 0 : access.getSize();
      while (done < held) {
        const n = access.read(memory(at + done, Math.min(READ, held - done)), { at: done });
        if (!n) break;
        call('llm_hash', done, n);
        done += n;
        progress('download', Math.min(done, model.bytes - 1), model.bytes);
      }
      access.truncate(done);
    }
    if (done < model.bytes) {
      done = await fetchRest(model, at, done, access, signal);
    }
    progress('verify', model.bytes - 1, model.bytes);
    const found = digest();
    if (found !== model.sha256) {
      keep = false;
      throw new Refused('hash', 'the file that arrived is not the model', {
        subject: model.name,
        expected: model.sha256,
        observed: found,
      });
    }
    if (access) access.flush();
  } catch (e) {
    if (e instanceof Quota || e.code === 'size') keep = false;
    if (e instanceof Quota) e.numbers = { ...(await storage(model.bytes + RESERVE)), ...e.numbers };
    throw e;
  } finally {
    if (access) access.close();
    if (access && !keep) await remove(dir, part);
  }
  if (!dir) return false;
  let name = part;
  if (handle.move && (await handle.move(`${model.sha256}.gguf`).then(() => true, () => false))) {
    name = `${model.sha256}.gguf`;
  }
  await record(dir, model, name);
  return true;
}

async function fetchRest(model, at, from, access, signal) {
  const network = (e) => {
    if (signal.aborted) return new Refused('cancelled', 'the download was stopped');
    return new Refused('network', `the model cannot be fetched: ${e.message}`);
  };
  const headers = from ? { Range: `bytes=${from}-` } : {};
  // no-store: the file is kept once, by us
  const ask = (headers) =>
    fetch(model.url, { headers, signal, cache: 'no-store' }).catch((e) => {
      throw network(e);
    });
  let response = await ask(headers);
  if (from && response.status === 416) response = await ask({});
  if (!response.ok || !response.body) throw new Refused('http', `the model: status ${response.status}`);
  let done = from;
  const range = response.headers.get('content-range');
  if (response.status !== 206 || !range || !range.startsWith(`bytes ${from}-`)) {
    if (response.status === 206) throw new Refused('http', `the model: an unexpected range ${range}`);
    // the server sends the whole: begin again, the digest too
    done = 0;
    call('llm_digest');
    if (access) access.truncate(0);
  }
  const length = response.headers.get('content-length');
  const wanted = model.bytes - done;
  const wrongSize = (observed) =>
    new Refused('size', `the model has another size: expected ${wanted} bytes, found ${observed}`, {
      subject: model.name,
      expected: String(wanted),
      observed: String(observed),
    });
  if (length !== null && !response.headers.get('content-encoding') && Number(length) !== wanted) {
    await maybe(response.body.cancel());
    throw wrongSize(length);
  }
  const reader = response.body.getReader();
  for (;;) {
    const { done: over, value } = await reader.read().catch((e) => {
      if (access) access.flush();
      throw network(e);
    });
    if (over) break;
    if (done + value.length > model.bytes) {
      await maybe(reader.cancel());
      throw wrongSize('more');
    }
    if (access) write(access, value, done);
    memory(at + done, value.length).set(value);
    call('llm_hash', done, value.length);
    done += value.length;
    progress('download', Math.min(done, model.bytes - 1), model.bytes);
  }
  if (done < model.bytes) {
    if (access) access.flush();
    throw new Refused('network', `the model broke off after ${done} of ${model.bytes} bytes`);
  }
  return done;
}

function write(access, bytes, at) {
  let written;
  try {
    written = access.write(bytes, { at });
  } catch (e) {
    if (e.name !== 'QuotaExceededError') throw new Refused('storage', `the model cannot be stored: ${e.message}`);
    written = 0;
  }
  // what a browser says about free space need not be so: what fitted is known. A full disk may come back as a huge
  // "written", an error code read as a length
  if (written !== bytes.length) throw new Quota({ have: at + (written < bytes.length ? written : 0) });
}

async function storage(need) {
  const { quota, usage = 0 } = (await maybe(navigator.storage.estimate())) ?? {};
  const have = typeof quota === 'number' ? Math.max(quota - usage, 0) : null;
  return { need, have, used: usage };
}

async function enough(dir, model) {
  const numbers = await storage(model.bytes - (await sizeOf(dir, `${model.sha256}.part`)) + RESERVE);
  if (numbers.have !== null && numbers.have < numbers.need) throw new Quota(numbers);
}

// Another tab may be fetching the same file: one of them does, the other waits and finds it.
const alone = (name, work) => (navigator.locks ? navigator.locks.request(`webgpu-os:model:${name}`, work) : work());

async function obtain(model, persist, signal) {
  const dir = persist ? await folder() : null;
  const at = room(model);
  if (!dir) {
    await download(null, model, at, signal);
    return { persisted: false, source: 'network' };
  }
  return alone(model.sha256, async () => {
    const file = await stored(dir, model);
    if (file) {
      await readStored(file, at, model.bytes, 'load', false);
      return { persisted: true, source: 'stored', dir };
    }
    await enough(dir, model);
    return { persisted: await download(dir, model, at, signal), source: 'network' };
  });
}

async function load(job) {
  const { model, modules, ctx, persist = true } = job.message;
  if (!model || !/^[0-9a-f]{64}$/.test(model.sha256) || !(Number.isInteger(model.bytes) && model.bytes > 0)) {
    throw new Refused('request', 'a model needs url, bytes and sha256');
  }
  hooks = job.message.hooks === true;
  const began = performance.now();
  await start(modules ?? {});
  let got = await obtain(model, persist, job.abort.signal);
  const window_ = whole(ctx, DEFAULT_CTX);
  let did = call('llm_load', window_);
  if (did === DID.REFUSED && got.dir) {
    // a stored file that was good once: either it is damaged, or this engine never ran it
    const why = refusal();
    const file = await stored(got.dir, model);
    if (file) await readStored(file, room(model), model.bytes, 'verify', true);
    if (file && digest() === model.sha256) throw why;
    await alone(model.sha256, () => forget(got.dir, model.sha256));
    got = await obtain(model, persist, job.abort.signal);
    did = call('llm_load', window_);
  }
  must(did);
  const info = Object.fromEntries(text().split('\n').map((l) => l.split('=')));
  for (const key of ['ctx', 'bytes', 'vocab', 'layers', 'bytesPerToken']) info[key] = Number(info[key]);
  progress('load', model.bytes, model.bytes);
  postMessage({
    ev: 'ready',
    info: {
      ...info,
      name: model.name,
      persisted: got.persisted,
      source: got.source,
      loadMs: Math.round(performance.now() - began),
    },
  });
}

// ---- running it -----------------------------------------------------------------------------------------------

function startChat({ messages, assistantPrefix, sampling = {}, stop, constrain }) {
  const seed = Math.max(Math.floor(number(sampling.seed, 0)), 0);
  const w = new Writer()
    .f32(number(sampling.temperature, 0))
    .u32(whole(sampling.topK, 40))
    .f32(number(sampling.topP, 0.95))
    .f32(number(sampling.penalty, 1))
    .u32(seed % 2 ** 32)
    .u32(Math.floor(seed / 2 ** 32) % 2 ** 32)
    .u32(whole(sampling.maxTokens, 256))
    .messages(messages)
    .text(assistantPrefix);
  w.list(stop, (s) => w.text(s)).list(constrain, (p) => w.part(p));
  request(w.done());
  return call('llm_chat');
}

function startScore({ messages, text, assistantPrefix, candidates }) {
  const w = new Writer().messages(messages).text(text).text(assistantPrefix);
  w.list(candidates, (c) => w.text(c));
  request(w.done());
  return call('llm_score');
}

async function work(job) {
  const { op, run } = job.message;
  if (!engine) throw new Refused('no-model', 'no model is loaded');
  // messages that came with this one are read first: a stop may be among them
  await turn();
  const began = performance.now();
  let first = 0;
  must(op === 'chat' ? startChat(job.message) : startScore(job.message));
  const [prompt, cached, dropped] = numbers();
  if (dropped) postMessage({ ev: 'trimmed', run, dropped });
  for (;;) {
    if (job.cancelled) call('llm_cancel');
    const did = must(call('llm_step'));
    if (did === DID.PREFILL) {
      const [done, total] = numbers();
      postMessage({ ev: 'prefill', run, done, total });
    } else if (did === DID.TEXT) {
      first ||= performance.now();
      const piece = text();
      if (piece) postMessage({ ev: 'delta', run, text: piece });
    } else if (did === DID.END) {
      const bytes = out();
      const [reason, prompt, cached, completion] = new Uint32Array(bytes.buffer, 0, 4);
      const rest = decoder.decode(bytes.subarray(16));
      if (rest) postMessage({ ev: 'delta', run, text: rest });
      const now = performance.now();
      const prefillMs = (first || now) - began;
      const decodeMs = first ? now - first : 0;
      postMessage({
        ev: 'end',
        run,
        reason: REASONS[reason],
        usage: { prompt, cached, completion, prefillMs, decodeMs },
      });
      return;
    } else if (did === DID.SCORES) {
      const view = new DataView(out().buffer);
      const sums = [];
      const tokens = [];
      for (let i = 0; i < view.byteLength; i += 8) {
        sums.push(view.getFloat32(i, true));
        tokens.push(view.getUint32(i + 4, true));
      }
      const scores = sums.map((s, i) => s / tokens[i]);
      postMessage({ ev: 'scores', run, scores, sums, tokens, usage: { prompt, cached } });
      return;
    } else {
      throw new Refused('run-gone', 'the run is gone');
    }
    await turn();
  }
}

const nothing = { prompt: 0, cached: 0, completion: 0, prefillMs: 0, decodeMs: 0 };
const cancelled = (run) => postMessage({ ev: 'end', run, reason: 'cancelled', usage: nothing });

async function pump() {
  while (!current && line.length) {
    current = line.shift();
    const { op, run } = current.message;
    try {
      if (lost !== null) throw new Lost(lost);
      if (op === 'load') await load(current);
      else await work(current);
    } catch (e) {
      report(e, run);
    }
    current = null;
  }
}

function report(e, run) {
  if (e instanceof Lost) {
    engine = null;
    lost = e.message;
    postMessage({ ev: 'lost', message: e.message, run });
  } else if (e instanceof Quota) {
    postMessage({ ev: 'quota', ...e.numbers });
  } else if (e instanceof Refused) {
    postMessage({ ev: 'error', code: e.code, message: e.message, run, ...e.more });
  } else {
    postMessage({ ev: 'error', code: 'internal', message: String(e && e.message ? e.message : e), run });
  }
}

onmessage = async ({ data: message }) => {
  switch (message && message.op) {
    case 'load':
    case 'chat':
    case 'score': {
      const taken = (job) => job && job.message.run === message.run;
      if (message.run !== undefined && (taken(current) || line.some(taken))) {
        postMessage({ ev: 'error', code: 'run-taken', message: 'a run of this id is not over', run: message.run });
        return;
      }
      line.push({ message, cancelled: false, abort: new AbortController() });
      pump();
      return;
    }
    case 'cancel': {
      if (current && current.message.run === message.run) {
        current.cancelled = true;
        current.abort.abort();
        return;
      }
      const at = line.findIndex((job) => job.message.run === message.run);
      if (at >= 0) {
        line.splice(at, 1);
        cancelled(message.run);
      }
      return;
    }
    case 'count': {
      let tokens = -1;
      try {
        if (engine) {
          request(encoder.encode(String(message.text ?? '')));
          tokens = call('llm_count') | 0;
        }
      } catch (e) {
        report(e);
      }
      postMessage({ ev: 'count', id: message.id, tokens });
      return;
    }
    case 'forget': {
      const dir = await folder();
      const bytes = dir ? await sizeOf(dir, `${message.sha256}.gguf`) + (await sizeOf(dir, `${message.sha256}.part`)) : 0;
      if (dir) await alone(message.sha256, () => forget(dir, message.sha256));
      postMessage({ ev: 'forgotten', sha256: message.sha256, bytes });
      return;
    }
    case 'trap':
      if (hooks && engine) {
        try {
          call('llm_trap');
        } catch (e) {
          // a run at work meets it at its next step
          if (current) [engine, lost] = [null, e.message];
          else report(e);
        }
      }
      return;
    default:
      postMessage({ ev: 'error', code: 'request', message: `unknown operation ${message && message.op}` });
  }
};
