// How a bench reports: one line of JSON per figure, which `cargo xtask bench` turns into a table.

/**
 * Prints a figure. `budget` is what it may be; `peer` is a bound or another way to the same that was
 * measured in this same run (absolute times differ between machines), as `[name, value]`;
 * `moreIsBetter` turns the comparison round. What was not measured is not printed.
 */
export function figure(name, value, unit, { budget, peer, moreIsBetter, note } = {}) {
  for (const number of [value, ...(peer ? [peer[1]] : [])]) {
    if (!Number.isFinite(number)) throw new Error(`${name} was not measured: ${number}`);
  }
  const other = peer && { name: peer[0], value: peer[1] };
  console.log(JSON.stringify({ name, value, unit, budget, peer: other, more_is_better: moreIsBetter, note }));
}

/** The middle value; one slow run does not move it. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The value that a share of all values does not exceed. */
export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}

/**
 * A bare canvas as large as the window, cleared and nothing else, each time with the GPU at rest: how
 * long its frame is waited for and how long the GPU takes for it, in ms. No page of this browser on
 * this machine does better; on a software GPU that is most of the time from a key to its frame.
 */
export async function bareCanvas(shell) {
  const frames = await shell.eval(async () => {
    const canvas = Object.assign(document.createElement("canvas"), { width: innerWidth, height: innerHeight });
    canvas.style.cssText = "position: fixed; inset: 0; z-index: 99";
    document.body.append(canvas);
    const device = await (await navigator.gpu.requestAdapter()).requestDevice();
    const context = canvas.getContext("webgpu");
    context.configure({ device, format: navigator.gpu.getPreferredCanvasFormat() });
    const frames = [];
    for (let n = 0; n < 20; n++) {
      const asked = performance.now();
      await new Promise((done) => requestAnimationFrame(done));
      const got = performance.now();
      const encoder = device.createCommandEncoder();
      const view = context.getCurrentTexture().createView();
      const clear = { view, loadOp: "clear", storeOp: "store", clearValue: [n / 20, 0, 0, 1] };
      encoder.beginRenderPass({ colorAttachments: [clear] }).end();
      device.queue.submit([encoder.finish()]);
      await device.queue.onSubmittedWorkDone();
      frames.push({ wait: got - asked, gpu: performance.now() - got });
    }
    canvas.remove();
    device.destroy();
    return frames;
  });
  return { wait: median(frames.map((frame) => frame.wait)), gpu: median(frames.map((frame) => frame.gpu)) };
}

/**
 * For `Shell.open({ init })`: counts what the page does, from outside, without its help.
 * `window.counted` holds submissions to the GPU; animation frames asked for; timers that went off
 * (an interval counts each time); the time in input handlers and in animation frames; the time from
 * each key's event to the next submission, and from there until the GPU is done; and who set the timers and asked for the frames, as
 * lines of their call stacks while `counted.who` is a map.
 */
export function countInPage() {
  const counted = { submits: 0, frames: 0, timers: 0, handlers: 0, drawing: 0, keys: [], gpu: [], done: null, ready: null, who: null };
  window.counted = counted;
  let pressed = null;
  let depth = 0;
  addEventListener("keydown", (event) => { pressed ??= event.timeStamp; }, { capture: true });
  const named = (what) => {
    if (!counted.who) return;
    const line = `${what} ${new Error().stack.split("\n").slice(3, 9).map((l) => l.trim()).join(" < ")}`;
    counted.who[line] = (counted.who[line] ?? 0) + 1;
  };
  const timed = (sum, run) => function (...args) {
    // A handler inside a handler is already counted.
    if (depth++) {
      try { return run.apply(this, args); } finally { depth--; }
    }
    const from = performance.now();
    try { return run.apply(this, args); } finally {
      depth--;
      counted[sum] += performance.now() - from;
    }
  };
  const queue = globalThis.GPUQueue?.prototype;
  if (queue) {
    const submit = queue.submit;
    queue.submit = function (...args) {
      counted.submits++;
      if (pressed !== null) {
        counted.keys.push(performance.now() - pressed);
        pressed = null;
      }
      submit.apply(this, args);
      const from = performance.now();
      counted.done = this.onSubmittedWorkDone().then(() => counted.gpu.push(performance.now() - from));
    };
  }
  const frame = window.requestAnimationFrame;
  window.requestAnimationFrame = function (callback) {
    counted.frames++;
    named("frame");
    return frame.call(window, timed("drawing", callback));
  };
  for (const name of ["setTimeout", "setInterval"]) {
    const set = window[name];
    window[name] = function (callback, wait, ...rest) {
      named(`${name} ${wait}`);
      if (typeof callback !== "function") return set.call(window, callback, wait, ...rest);
      return set.call(window, function (...args) {
        counted.timers++;
        return callback.apply(this, args);
      }, wait, ...rest);
    };
  }
  // What a key causes in the page's own handlers; the frame comes later and is counted apart.
  const inputs = new Set(["keydown", "keyup", "beforeinput", "input", "textupdate", "characterboundsupdate"]);
  const listeners = new WeakMap();
  const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype;
  EventTarget.prototype.addEventListener = function (type, listener, options) {
    if (typeof listener !== "function" || !inputs.has(type)) return add.call(this, type, listener, options);
    if (!listeners.has(listener)) listeners.set(listener, timed("handlers", listener));
    return add.call(this, type, listeners.get(listener), options);
  };
  EventTarget.prototype.removeEventListener = function (type, listener, options) {
    return remove.call(this, type, (inputs.has(type) && listeners.get(listener)) || listener, options);
  };
  new MutationObserver(() => {
    if (document.documentElement.dataset.shell === "ready") counted.ready ??= performance.now();
  }).observe(document, { attributes: true, subtree: true, attributeFilter: ["data-shell"] });
}

/**
 * Types, one real key after the other, each with the GPU at rest: a key that is pressed while the
 * frame before it is still drawn waits for that one, which says more of the typist than of the page.
 * For every key the milliseconds in handlers, in animation frames, from its event to the submission
 * that shows it, and from there until the GPU is done.
 */
export async function typed(shell, text) {
  const rest = () => shell.eval(async () => {
    for (let n = 0; n < 2; n++) await new Promise((done) => requestAnimationFrame(done));
    await window.counted.done;
  });
  const costs = [];
  await rest();
  for (const key of text) {
    await shell.eval(() => Object.assign(window.counted, { handlers: 0, drawing: 0, keys: [], gpu: [] }));
    await shell.type(key);
    await rest();
    costs.push(await shell.eval(() => {
      const { handlers, drawing, keys, gpu } = window.counted;
      return { handlers, drawing, shown: keys[0] ?? null, gpu: gpu[0] ?? null };
    }));
  }
  if (costs.every((cost) => cost.shown === null)) throw new Error("no key led to a frame");
  return costs;
}
