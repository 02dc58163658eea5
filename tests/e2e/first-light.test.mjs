// The spine of the product on real input: painted, answers from the model that ships with it, stops
// at once, comes back after a reload, and asks nobody else.
import assert from "node:assert/strict";
import { BASE, isPainted, shellTest } from "./lib/harness.mjs";
import { articles, ask, countOrders, draft, idle, last, modelCalls, modelReady, press, send, shows } from "./lib/echo.mjs";

/** What is there of the answer to the last question. */
async function now(shell) {
  const all = await articles(shell);
  return all.slice(all.findLastIndex((a) => a.who === "You") + 1).find((a) => a.who === "AI Echo")?.text ?? "";
}

const LONG = "Write a long story about a lighthouse keeper";

shellTest("first_light_a_typed_question_gets_a_streamed_answer_from_the_on_device_model", { init: countOrders }, async (shell) => {
  assert.ok(isPainted(await shell.screenshot("first-light")), "the canvas shows something");
  await modelReady(shell);
  // Every length that the answer has had, as the page saw it.
  await shell.eval(() => {
    globalThis.lengths = [];
    new MutationObserver(() => {
      const parts = document.querySelectorAll("#mirror article[aria-label='AI Echo'] p");
      const now = [...parts].map((p) => p.getAttribute("aria-label")).join("").length;
      if (now && globalThis.lengths.at(-1) !== now) globalThis.lengths.push(now);
    }).observe(document.querySelector("#mirror"), { subtree: true, childList: true, attributes: true });
  });
  await send(shell, LONG);
  await shell.until(() => shell.eval(() => globalThis.lengths.length >= 4), "the answer grows four times", { timeout: 120_000 });
  const lengths = await shell.eval(() => globalThis.lengths);
  assert.deepEqual(lengths, [...lengths].sort((a, b) => a - b), "an answer only grows");
  assert.ok(await shows(shell, "Stop"), "it is still running");
  await shell.press("Escape");
  await idle(shell);
  assert.match(await last(shell), /\w+ \w+/);
  assert.equal(await modelCalls(shell), 1);
});

shellTest("field_6h4_stop_before_the_first_token_and_the_next_question_is_answered", { init: countOrders }, async (shell) => {
  await modelReady(shell);
  await send(shell, LONG);
  await shell.until(() => shows(shell, "Stop"), "it runs");
  await shell.press("Escape");
  await idle(shell);
  assert.match(await last(shell), /^Stopped\.$|\nStopped\.$/, "the first run ends as stopped");
  const answer = await ask(shell, "What is the capital of France?");
  assert.match(answer, /Paris/);
  assert.doesNotMatch(answer, /Stopped/);
  assert.equal((await articles(shell)).filter((a) => a.who === "You").length, 2);
});

shellTest("field_6h4_stop_after_the_first_token_twice_and_the_next_question_is_answered", async (shell) => {
  await modelReady(shell);
  for (const stop of ["Escape", "button"]) {
    await send(shell, LONG);
    await shell.until(async () => /\w/.test(await now(shell)) && (await shows(shell, "Stop")), "some of the answer is there", { timeout: 120_000 });
    if (stop === "button") await press(shell, "Stop");
    else await shell.press(stop);
    await idle(shell);
    const text = await last(shell);
    assert.match(text, /\w[\s\S]*\nStopped\.$/, "what came stays, and is marked");
    // A stopped answer does not go on.
    await new Promise((done) => setTimeout(done, 800));
    assert.equal(await last(shell), text);
  }
  assert.match(await ask(shell, "What is the capital of France?"), /Paris/);
});

shellTest("first_light_a_reload_keeps_draft_and_transcript", async (shell) => {
  await modelReady(shell);
  await ask(shell, "What is the capital of France?");
  const before = await articles(shell);
  assert.equal(before.length, 2);
  const words = "half a thought, über 日本 🙂";
  await shell.type("half a thought, ");
  await shell.insertText("über 日本 🙂");
  await shell.until(async () => (await draft(shell)) === words, "the draft is in the composer");
  await shell.reload();
  await shell.until(async () => (await draft(shell)) === words, "the draft is back");
  await shell.until(async () => (await articles(shell)).length === before.length, "and the conversation");
  assert.deepEqual(await articles(shell), before);
  // And it can be gone on with, at its end.
  await shell.type("!");
  await shell.until(async () => (await draft(shell)) === `${words}!`, "typing goes on at the end");
});

shellTest("first_light_offline_after_the_load_it_still_answers_and_nothing_leaves_this_machine", async (shell) => {
  await modelReady(shell);
  await shell.context.setOffline(true);
  assert.match(await ask(shell, "What is the capital of France?"), /Paris/);
  await shell.context.setOffline(false);
  const elsewhere = shell.requests.filter((url) => !url.startsWith(`${BASE}/`) && !/^(blob|data):/.test(url));
  assert.deepEqual(elsewhere, [], "no request goes anywhere else");
});
