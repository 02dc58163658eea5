// From a key's event to the frame that shows it, with an empty conversation and with a long one:
// what the page computes for it, which has a budget; when its frame is submitted; and what the GPU
// does with it, beside a bare canvas in the same browser, because that may be a software GPU.
import { Shell } from "../e2e/lib/harness.mjs";
import { bareCanvas, countInPage, figure, median, percentile, typed } from "./lib/figure.mjs";
import { long } from "./lib/transcript.mjs";

const MESSAGES = 500;
const TEXT = "the quick brown fox jumps. ";
const shell = await Shell.open({ init: countInPage });
try {
  await typed(shell, "warm up ");
  const empty = await typed(shell, TEXT);
  const bare = await bareCanvas(shell);
  await long(shell, MESSAGES);
  await typed(shell, "warm up ");
  const full = await typed(shell, TEXT);
  const of = (costs, part) => costs.map((cost) => cost[part]).filter((value) => value !== null);
  // The handlers fold the key and paint on the CPU: update, view, mirror and text driver.
  const cpu = median(of(empty, "handlers"));
  figure("key, CPU of update, view and mirror, empty", cpu, "ms", { budget: 4 });
  figure(`key, CPU of the same, ${MESSAGES} messages`, median(of(full, "handlers")), "ms", {
    budget: 4, peer: ["the empty one", cpu],
  });
  figure("key, CPU of the frame (encode, submit)", median(of(full, "drawing")), "ms", {
    peer: ["the empty one", median(of(empty, "drawing"))],
  });
  const wait = { peer: ["a bare canvas waits for its frame", bare.wait] };
  figure("key to submitted frame, empty", median(of(empty, "shown")), "ms", wait);
  figure(`key to submitted frame, ${MESSAGES} messages`, median(of(full, "shown")), "ms", wait);
  figure("the same, 95 %", percentile(of(full, "shown"), 0.95), "ms", wait);
  figure("key, the GPU's time for the frame", median(of(full, "gpu")), "ms", { peer: ["a bare canvas is cleared", bare.gpu] });
} finally {
  await shell.close();
}
