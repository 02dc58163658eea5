// How a bench reports: one line of JSON per figure, which `cargo xtask bench` turns into a table.

/**
 * Prints a figure. `budget` is what it may be, `bound` a peer or a limit measured in this same run
 * (absolute times differ between machines), `moreIsBetter` turns the comparison round.
 */
export function figure(name, value, unit, { budget, bound, moreIsBetter, note } = {}) {
  console.log(JSON.stringify({ name, value, unit, budget, bound, more_is_better: moreIsBetter, note }));
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
 * For `Shell.open({ init })`: counts what the page does for the screen, from outside, without its
 * help. `window.counted` holds submissions to the GPU, animation frames asked for, timers set, and
 * for each key the time from its event to the next submission.
 */
export function countInPage() {
  const counted = { submits: 0, frames: 0, timers: 0, keys: [], ready: null };
  window.counted = counted;
  let pressed = null;
  addEventListener("keydown", (event) => { pressed ??= event.timeStamp; }, { capture: true });
  const wrap = (holder, name, see) => {
    const original = holder?.[name];
    if (original) holder[name] = function (...args) { see(); return original.apply(this, args); };
  };
  wrap(globalThis.GPUQueue?.prototype, "submit", () => {
    counted.submits++;
    if (pressed !== null) {
      counted.keys.push(performance.now() - pressed);
      pressed = null;
    }
  });
  wrap(window, "requestAnimationFrame", () => { counted.frames++; });
  wrap(window, "setTimeout", () => { counted.timers++; });
  wrap(window, "setInterval", () => { counted.timers++; });
  new MutationObserver(() => {
    if (document.documentElement.dataset.shell === "ready") counted.ready ??= performance.now();
  }).observe(document, { attributes: true, subtree: true, attributeFilter: ["data-shell"] });
}
