// Two tabs on one conversation: one writes, the other reads and says so.
import assert from "node:assert/strict";
import { shellTest } from "./lib/harness.mjs";
import { articles, ask, draft, modelReady, press, send, status } from "./lib/echo.mjs";

const held = (shell) => shell.eval(async () =>
  (await navigator.locks.query()).held.map((l) => l.name).filter((n) => n.startsWith("conversation:")));

shellTest("storage_a_second_tab_reads_a_conversation_and_says_so_and_loses_nothing", async (one) => {
  await modelReady(one);
  await ask(one, "What is a harbour?");
  const before = await articles(one);
  assert.equal((await held(one)).length, 1, "one lock for the conversation in front");

  const two = await one.beside();
  await two.until(async () => (await articles(two)).length === before.length, "the second tab shows the conversation");
  await two.until(() => two.eval(() => document.querySelector("#mirror [aria-label='Message to AI Echo']")?.getAttribute("aria-disabled") === "true"),
    "its composer is off");
  const said = await two.eval(() => document.querySelector("#mirror [aria-label='Message to AI Echo']").getAttribute("aria-description"));
  assert.match(said, /Another tab has this conversation open/);
  await two.type("from the second tab");
  await two.press("Enter");
  assert.deepEqual(await articles(two), before, "nothing is sent from there");

  await one.page.bringToFront();
  await send(one, "And a quay?");
  await one.reload();
  await one.until(async () => (await articles(one)).some((a) => a.text.includes("And a quay?")), "what was written is kept");

  // The writer goes: the reader takes over by itself, with what was written meanwhile.
  await one.page.goto("about:blank");
  await two.page.bringToFront();
  await two.until(async () => (await held(two)).length === 1, "the second tab has the conversation now");
  await two.until(async () => (await articles(two)).some((a) => a.text.includes("And a quay?")), "and what the first one wrote");
  assert.match(await status(two), /you can write here now/);
  await press(two, "Message to AI Echo");
  await two.type("mine");
  await two.until(async () => (await draft(two)) === "mine", "and writes").catch(async (e) => {
    e.message += `; the draft is ${JSON.stringify(await draft(two))}, the status ${JSON.stringify(await status(two))}`;
    throw e;
  });
  assert.doesNotMatch(await status(two), /another tab/);
});
