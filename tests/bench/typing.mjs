// From a key's event to the frame that shows it, with an empty conversation and with a long one:
// one frame of work at most, and the long one types as the empty one does.
import { Shell } from "../e2e/lib/harness.mjs";
import { countInPage, figure, frameGap, median, percentile, typed } from "./lib/figure.mjs";
import { long } from "./lib/transcript.mjs";

const MESSAGES = 500;
const TEXT = "the quick brown fox jumps over the lazy dog, twice. ";
const shell = await Shell.open({ init: countInPage });
try {
  await typed(shell, "warm up ");
  const gap = await frameGap(shell);
  const empty = await typed(shell, TEXT);
  await long(shell, MESSAGES);
  await typed(shell, "warm up ");
  const full = await typed(shell, TEXT);
  const of = (costs, part) => costs.map((cost) => cost[part]).filter((value) => value !== null);
  const frame = { peer: ["the time between two frames", gap] };
  figure("key to submitted frame, empty", median(of(empty, "shown")), "ms", frame);
  figure(`key to submitted frame, ${MESSAGES} messages`, median(of(full, "shown")), "ms", frame);
  figure("the same, 95 %", percentile(of(full, "shown"), 0.95), "ms", frame);
  // Handlers fold the key and paint on the CPU: update, view, mirror and text driver.
  const cpu = median(of(empty, "handlers"));
  figure("key, CPU of update, view and mirror, empty", cpu, "ms", { budget: 4 });
  figure(`key, CPU of the same, ${MESSAGES} messages`, median(of(full, "handlers")), "ms", {
    budget: 4, peer: ["the empty one", cpu],
  });
  figure("key, CPU of the frame (encode, submit)", median(of(full, "drawing")), "ms", {
    peer: ["the empty one", median(of(empty, "drawing"))],
  });
} finally {
  await shell.close();
}
