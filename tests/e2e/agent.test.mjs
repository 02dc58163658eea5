// The agent at work in the sample folder: it reads on its own, and changes a file only after the
// person has seen and approved exactly that change.
import assert from "node:assert/strict";
import { shellTest } from "./lib/harness.mjs";
import {
  articles, ask, card, countOrders, decide, draft, file, focused, idle, last, modelCalls, modelReady, overwrite, press,
  review, send, shows, status, write,
} from "./lib/echo.mjs";

const BUY = '/tool:files.write put "buy milk" into notes/shopping.md';

shellTest("agent_files_read_answers_with_what_the_file_says", async (shell) => {
  await modelReady(shell);
  const todo = await file(shell, "notes/todo.md");
  assert.ok(todo.length > 50);
  const answer = await ask(shell, "/tool:files.read what is in notes/todo.md");
  assert.match(answer, /notes\/todo\.md says:/);
  for (const line of todo.split("\n").filter(Boolean)) assert.ok(answer.includes(line), line);
  assert.ok(await last(shell, "Tool files.read, done"));
  assert.equal(await card(shell), null, "reading needs no review");
  assert.equal(await file(shell, "notes/todo.md"), todo);
});

shellTest("agent_files_read_of_a_file_that_is_not_there_says_so", async (shell) => {
  await modelReady(shell);
  await ask(shell, "/tool:files.read what is in notes/nowhere.md");
  const all = (await articles(shell)).map((a) => `${a.who}: ${a.text}`).join("\n");
  assert.doesNotMatch(all, /nowhere\.md says/);
  assert.match(all, /not (found|there|in)|no (such )?file|does not exist|which/i);
});

shellTest("agent_files_write_changes_nothing_before_the_approval_and_exactly_what_was_shown_after_it", async (shell) => {
  await modelReady(shell);
  await send(shell, BUY);
  const shown = await review(shell);
  assert.match(shown.name, /notes\/shopping\.md/);
  assert.match(shown.description, /files\.write, asked by you, with \/tool:files\.write\./);
  assert.match(shown.description, /only notes\/shopping\.md in \/mnt\/welcome/);
  assert.match(shown.change, /Arguments: \{"path":"notes\/shopping\.md","content":"buy milk"\}/);
  assert.match(shown.change, /added 1: buy milk/);
  assert.equal(await file(shell, "notes/shopping.md"), null, "nothing before the approval");
  assert.match(await focused(shell), /Message to AI Echo/, "the card takes no focus");
  await decide(shell, "Approve");
  await idle(shell);
  assert.equal(await file(shell, "notes/shopping.md"), "buy milk");
  assert.ok(await last(shell, "Tool files.write, done"));
  assert.equal(await card(shell), null);
});

shellTest("agent_reject_changes_nothing", async (shell) => {
  await modelReady(shell);
  await send(shell, BUY);
  await review(shell);
  await decide(shell, "Reject");
  await idle(shell);
  assert.equal(await file(shell, "notes/shopping.md"), null);
  assert.ok(await last(shell, "Tool files.write, rejected by you"));
});

shellTest("agent_undo_on_the_receipt_is_a_review_of_its_own_and_restores_the_file", async (shell) => {
  await modelReady(shell);
  const before = await file(shell, "notes/todo.md");
  await send(shell, '/tool:files.write put "nothing left" into notes/todo.md');
  assert.match((await review(shell)).change, /removed \d+: # To do/);
  await decide(shell, "Approve");
  await idle(shell);
  assert.equal(await file(shell, "notes/todo.md"), "nothing left", "a shorter file leaves no tail");
  await press(shell, "Undo");
  const undo = await review(shell);
  assert.match(undo.change, /added \d+: # To do/);
  assert.match(undo.change, /removed 1: nothing left/);
  assert.equal(await file(shell, "notes/todo.md"), "nothing left", "Undo waits for its own review");
  await decide(shell, "Approve");
  await idle(shell);
  assert.equal(await file(shell, "notes/todo.md"), before);
});

shellTest("field_4h2_a_file_that_changed_between_card_and_approval_is_refused_and_shown_anew", async (shell) => {
  await modelReady(shell);
  await send(shell, '/tool:files.write put "all done" into notes/todo.md');
  const first = await review(shell);
  await overwrite(shell, "notes/todo.md", "somebody else was here\n");
  await decide(shell, "Approve");
  const second = await shell.until(async () => {
    const c = await card(shell);
    return c?.ready && c.change !== first.change ? c : null;
  }, "the change is shown anew", { timeout: 60_000 });
  assert.equal(await file(shell, "notes/todo.md"), "somebody else was here\n", "the approval of the old card wrote nothing");
  assert.match(second.description, /shown anew/);
  assert.match(second.change, /removed 1: somebody else was here/);
  await decide(shell, "Approve");
  await idle(shell);
  assert.equal(await file(shell, "notes/todo.md"), "all done");
});

shellTest("field_4h2_three_hundred_lines_are_all_on_the_card_before_it_can_be_approved", async (shell) => {
  await modelReady(shell);
  const lines = Array.from({ length: 300 }, (_, n) => (n === 210 ? "line 211 is another" : `line ${n + 1}`));
  const content = lines.join("\n");
  // A command that is pasted in several lines is no command; the text that it takes may be.
  await write(shell, '/tool:files.write put "');
  await shell.paste(content);
  await shell.until(async () => (await draft(shell)).endsWith("line 300"), "the lines are pasted");
  await shell.type('" into notes/plan.md');
  await shell.press("Enter");
  const shown = await review(shell);
  for (const [n, line] of lines.entries()) assert.ok(shown.change.includes(`added ${n + 1}: ${line}\n`), line);
  await decide(shell, "Approve");
  await idle(shell);
  assert.equal(await file(shell, "notes/plan.md"), content);
});

shellTest("field_4h1_keys_of_the_composer_cannot_decide_a_card_that_opens_while_typing", async (shell) => {
  await modelReady(shell);
  await send(shell, BUY);
  await shell.type("yes 1 please");
  await shell.press("Enter");
  await review(shell);
  await shell.type("y 1 ");
  await shell.press("Enter", "Space", "Enter");
  assert.equal(await file(shell, "notes/shopping.md"), null);
  assert.match((await card(shell)).name, /shopping\.md/);
  await decide(shell, "Reject");
});

shellTest("agent_a_card_survives_a_reload_as_a_proposal_and_never_approved", async (shell) => {
  await modelReady(shell);
  await send(shell, BUY);
  const before = await review(shell);
  await shell.reload();
  const after = await review(shell);
  assert.equal(after.name, before.name);
  assert.equal(after.change, before.change);
  assert.equal(await file(shell, "notes/shopping.md"), null, "the reload decided nothing");
  await decide(shell, "Approve");
  await shell.until(async () => (await file(shell, "notes/shopping.md")) === "buy milk", "it is written after the approval");
});

shellTest("agent_a_skill_reads_the_named_notes_and_answers_from_them", { init: countOrders }, async (shell) => {
  await modelReady(shell);
  const answer = await ask(shell, "/skill:summarise-notes notes/todo.md");
  assert.match(answer, /\w+ \w+/);
  assert.doesNotMatch(answer, /Stopped|failed|refused/i);
  assert.ok((await modelCalls(shell)) >= 1);
  assert.equal(await card(shell), null);
});

shellTest("agent_arithmetic_and_the_time_come_from_their_tools_and_not_from_the_model", async (shell) => {
  await modelReady(shell);
  assert.match(await ask(shell, "what is 1234 * 5678?"), /7006652|7,006,652|7 006 652/);
  assert.ok(await last(shell, "Tool calculator.evaluate, done"));
  const year = String(new Date().getUTCFullYear());
  const clock = await ask(shell, "what time is it?");
  assert.ok(await last(shell, "Tool clock.now, done"));
  assert.ok(clock.includes(year) || /\d{1,2}:\d{2}/.test(clock), clock);
});

shellTest("agent_a_path_outside_the_folder_is_refused_in_words", async (shell) => {
  await modelReady(shell);
  await ask(shell, '/tool:files.write put "x" into ../../etc/passwd');
  assert.equal(await card(shell), null);
  assert.ok(!(await shows(shell, "Approve")));
  assert.ok((await status(shell)).length > 0);
});
