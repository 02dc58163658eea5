// The model's way onto this device: what there is room for is told in numbers, and nothing that
// is not whole is called complete.
import assert from "node:assert/strict";
import { BASE, shellTest } from "./lib/harness.mjs";
import { articles, ask, control, modelReady, press, shows, write } from "./lib/echo.mjs";

const MB = 1024 * 1024;
const quota = (shell, quotaSize) => shell.cdp.send("Storage.overrideQuotaForOrigin", { origin: BASE, ...(quotaSize && { quotaSize }) });

shellTest("field_10h2_a_quota_that_is_too_small_stops_the_download_with_numbers_and_a_way_on", { path: "/icon.svg", ready: false }, async (shell) => {
  // The browser's own estimate says ten gigabytes all the same: only the write finds out.
  await quota(shell, 50 * MB);
  await shell.page.goto(`${BASE}/`, { waitUntil: "load" });
  await shell.ready();
  const words = async () => (await shell.axTree()).match(/"Model: ([^"]*)"/)?.[1] ?? "";
  const seen = [];
  await shell.until(async () => {
    const now = await words();
    if (seen.at(-1) !== now) seen.push(now);
    return /room|space/i.test(now);
  }, "it says that there is no room", { timeout: 60_000 });
  const [, needed, free] = seen.at(-1).match(/(\d+) MB needed, (\d+) MB free/) ?? assert.fail(`no numbers: ${seen.at(-1)}`);
  assert.ok(Number(needed) >= 98 && Number(free) <= 50, seen.at(-1));
  assert.ok(!seen.some((w) => /ready|100/.test(w)), `never complete: ${seen}`);
  // The draft stays, and a question is answered with what is missing.
  await write(shell, "What is a harbour?");
  await shell.press("Enter");
  await shell.until(async () => (await articles(shell)).some((a) => /room|not ready|no model|98 MB/i.test(a.text)), "the turn says why there is no answer");

  await quota(shell);
  await press(shell, "Try again");
  await modelReady(shell);
  assert.equal(await shows(shell, "Try again"), false);
  assert.ok((await ask(shell, "What is a quay?")).length > 0, "and then it answers");
  await control(shell, "Model: On-device model ready");
});
