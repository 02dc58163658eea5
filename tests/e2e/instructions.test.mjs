// The instructions of the folder: what applies to a file and why, and that a turn says what it was told.
import assert from "node:assert/strict";
import { shellTest } from "./lib/harness.mjs";
import { articles, control, idle, modelReady, opened, overwrite, press, send, shows, write } from "./lib/echo.mjs";

const RULE = "---\npaths: \"notes/**/*.md\"\n---\nDates are written as 2026-03-31.\n";
const OTHER = "---\npaths: \"web/**\"\n---\nNever told.\n";

/** Puts a file into a folder of the sample that may not be there yet. */
async function put(shell, path, text) {
  await shell.eval(async (parts) => {
    let dir = await navigator.storage.getDirectory();
    for (const name of ["mnt", "welcome", ...parts]) dir = await dir.getDirectoryHandle(name, { create: true });
  }, path.split("/").slice(0, -1));
  await overwrite(shell, path, text);
}

/** All names and descriptions that the mirror tells. */
const told = (shell) => shell.eval(() => [...document.querySelectorAll("#mirror *")]
  .map((e) => `${e.getAttribute("aria-label") ?? ""} ${e.getAttribute("aria-description") ?? ""} ${e.children.length ? "" : e.textContent}`)
  .join("\n"));

shellTest("i110_instructions_shows_what_applies_to_a_file_in_which_order_and_why", async (shell) => {
  await put(shell, "rules/dates.md", RULE);
  await put(shell, "rules/web.md", OTHER);
  await write(shell, "/app:instructions");
  await shell.press("Enter");
  await shell.until(() => opened(shell, "Instructions"), "Instructions opens");
  await control(shell, "1. AGENTS.md");
  assert.equal(await shows(shell, "2. rules/dates.md"), false, "without a target no scoped rule applies");

  await press(shell, "Target paths");
  await shell.type("notes/todo.md");
  await press(shell, "Show what applies");
  await control(shell, "2. rules/dates.md");
  const all = await told(shell);
  assert.match(all, /its pattern notes\/\*\*\/\*\.md matches notes\/todo\.md/);
  assert.match(all, /rules\/web\.md: no target matches web\/\*\*/);
  assert.match(all, /bytes of this model's budget are used/);
  await press(shell, "2. rules/dates.md");
  await shell.until(async () => (await told(shell)).includes("Dates are written"), "the row shows the text");
  await shell.screenshot("instructions");
});

shellTest("i111_a_turn_says_which_instructions_its_model_was_told", async (shell) => {
  await put(shell, "rules/dates.md", RULE);
  await modelReady(shell);
  await send(shell, "/skill:summarise-notes notes/todo.md");
  await idle(shell);
  const lines = (await articles(shell)).filter((a) => a.who.startsWith("Instructions used:"));
  assert.equal(lines.length, 1, "one line a turn");
  assert.match(lines[0].who, /^Instructions used: AGENTS\.md.*rules\/dates\.md/);
  await press(shell, "rules/dates.md");
  await shell.until(() => opened(shell, "Files"), "the file opens in Files");
  await shell.screenshot("instructions-line");
});
