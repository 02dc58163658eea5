// The palette on real keys, pointer and live registries: what is typed is what runs, and what is no
// command runs nothing.
import assert from "node:assert/strict";
import { shellTest } from "./lib/harness.mjs";
import { articles, control, countOrders, draft, modelCalls, opened, press, rows, shows, status, write } from "./lib/echo.mjs";

const selected = async (shell) => (await rows(shell)).find((r) => r.selected)?.name ?? "";

shellTest("palette_app_files_opens_files_with_no_model_call", { init: countOrders }, async (shell) => {
  await write(shell, "/app:files");
  await shell.press("Enter");
  await shell.until(() => opened(shell, "Files"), "Files opens");
  assert.equal(await modelCalls(shell), 0);
  assert.deepEqual(await articles(shell), [], "nothing reaches the conversation");
  assert.equal(await draft(shell), "", "the command is used up");
});

shellTest("field_3h1_an_exact_name_is_first_and_is_what_enter_runs", async (shell) => {
  // A longer neighbour is used first, so that recency would speak for it.
  for (let n = 0; n < 3; n += 1) {
    await write(shell, "/go:settings:model");
    await shell.press("Enter");
    await shell.until(() => opened(shell, "Settings"), "Settings opens");
    await press(shell, "Close Settings");
    await shell.until(async () => !(await opened(shell, "Settings")), "Settings closes");
  }
  await write(shell, "/app:settings");
  await shell.until(async () => (await selected(shell)).startsWith("/app:settings "), "the exact name is selected");
  assert.match((await rows(shell))[0].name, /^\/app:settings /);
  await shell.press("Enter");
  await shell.until(() => opened(shell, "Settings"), "Settings opens");
});

shellTest("field_3h2_keys_in_one_burst_run_what_was_typed_and_nothing_else", { init: countOrders }, async (shell) => {
  // No answer is awaited between the keys: they arrive faster than frames are drawn.
  const keys = [..."/app:files"].map((text) => [{ type: "keyDown", text, key: text }, { type: "keyUp", key: text }]).flat();
  const enter = { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13 };
  const all = [...keys, { type: "keyDown", text: "\r", ...enter }, { type: "keyUp", ...enter }];
  await Promise.all(all.map((event) => shell.key(event)));
  await shell.until(() => opened(shell, "Files"), "Files opens");
  assert.equal(await opened(shell, "Settings"), false);
  assert.deepEqual(await articles(shell), []);
  assert.equal(await modelCalls(shell), 0);
});

shellTest("field_3h2_a_burst_that_names_nothing_runs_nothing", { init: countOrders }, async (shell) => {
  const keys = [..."/app:cal"].map((text) => [{ type: "keyDown", text, key: text }, { type: "keyUp", key: text }]).flat();
  const enter = { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13 };
  await Promise.all([...keys, { type: "keyDown", text: "\r", ...enter }, { type: "keyUp", ...enter }].map((e) => shell.key(e)));
  await shell.until(async () => (await draft(shell)) === "/app:cal", "the draft stays");
  await shell.until(async () => /not a command/.test(await status(shell)), "and it is said");
  for (const app of ["Files", "Settings"]) assert.equal(await opened(shell, app), false);
  assert.equal(await modelCalls(shell), 0);
});

for (const text of ["/mnt/project/todo.md has a typo, fix it", "/etc", "/app"]) {
  shellTest(`field_3h3_${text} is no command, stays, and can be sent as text`, { init: countOrders }, async (shell) => {
    await write(shell, text);
    await shell.press("Escape", "Enter");
    await shell.until(() => shows(shell, "Send as text"), "one way to send it as text");
    assert.match(await status(shell), /not a command/);
    assert.equal(await draft(shell), text);
    assert.deepEqual(await articles(shell), []);
    assert.equal(await modelCalls(shell), 0);
    await press(shell, "Send as text");
    await shell.until(async () => (await articles(shell))[0]?.text === text, "it is sent, word for word");
    assert.equal(await draft(shell), "");
  });
}

shellTest("field_3h4_a_package_that_is_disabled_loses_its_rows_at_once_and_a_late_pick_is_refused", { init: countOrders }, async (shell) => {
  await write(shell, "/go:settings:packages");
  await shell.press("Enter");
  await control(shell, "[role=dialog][aria-label=Settings]");
  await press(shell, "[role=dialog][aria-label=Settings] [aria-label='Right half']");
  await press(shell, "AI Echo");
  await press(shell, "[role=dialog][aria-label='AI Echo'] [aria-label='Left half']");
  await press(shell, "Message to AI Echo");
  await write(shell, "/files");
  await shell.until(async () => (await rows(shell)).some((r) => r.name.startsWith("/app:files ")), "Files has its rows");
  await press(shell, "[role=checkbox][aria-label=Files]");
  await shell.until(async () => !(await rows(shell)).some((r) => r.name.startsWith("/app:files ") && !r.disabled), "the row goes on the event");
  await press(shell, "Message to AI Echo");
  await shell.press("Control+A");
  await shell.type("/app:files");
  await shell.press("Enter");
  await shell.until(async () => /disabled|switched off|off|not a command/i.test(await status(shell)), "the late pick is refused with its reason");
  assert.equal(await opened(shell, "Files"), false);
  assert.equal(await draft(shell), "/app:files");
  assert.equal(await modelCalls(shell), 0);
});

shellTest("palette_ctrl_k_opens_the_same_catalogue_from_anywhere_and_esc_gives_the_focus_back", async (shell) => {
  await write(shell, "a draft");
  await shell.press("Control+K");
  await shell.until(async () => (await rows(shell)).length > 0, "the palette opens");
  await shell.type("files");
  await shell.until(async () => (await rows(shell)).some((r) => r.name.startsWith("/app:files ")), "it searches");
  assert.equal(await draft(shell), "a draft", "the draft is another");
  await shell.press("Escape");
  await shell.until(async () => (await rows(shell)).length === 0, "Esc closes it");
  await shell.type(" goes on");
  await shell.until(async () => (await draft(shell)) === "a draft goes on", "typing goes on where it was");
});

shellTest("palette_esc_closes_it_and_keeps_the_text", async (shell) => {
  await write(shell, "/app");
  await shell.until(async () => (await rows(shell)).length > 0, "the palette opens");
  await shell.press("Escape");
  await shell.until(async () => (await rows(shell)).length === 0, "Esc closes it");
  assert.equal(await draft(shell), "/app");
  await shell.type(":");
  await shell.until(async () => (await rows(shell)).length > 0, "the next letter opens it again");
});

shellTest("palette_arrows_choose_and_tab_completes", async (shell) => {
  await write(shell, "/app:");
  await shell.until(async () => (await rows(shell)).length >= 3, "three apps");
  const first = await selected(shell);
  await shell.press("ArrowDown");
  await shell.until(async () => (await selected(shell)) !== first, "down leads on");
  const second = (await selected(shell)).split(" ")[0];
  await shell.press("Tab");
  await shell.until(async () => (await draft(shell)).trim() === second, "Tab writes the chosen name");
});

shellTest("palette_arguments_complete_and_the_theme_changes", { scheme: "dark" }, async (shell) => {
  const dark = await shell.screenshot();
  await write(shell, "/cmd:theme ");
  const words = await shell.until(async () => {
    const names = (await rows(shell)).map((r) => r.name);
    return names.some((n) => /light/i.test(n)) ? names : null;
  }, "the values are offered");
  assert.ok(words.some((n) => /dark/i.test(n)));
  await shell.type("li");
  await shell.press("Tab");
  await shell.until(async () => (await draft(shell)).trim() === "/cmd:theme light", "Tab completes the value");
  await shell.press("Enter");
  await shell.until(async () => !(await shell.screenshot()).equals(dark) && (await draft(shell)) === "", "the theme changes");
  const { PNG } = (await import("./lib/env.mjs")).tool("pngjs");
  await shell.until(async () => PNG.sync.read(await shell.screenshot("theme-light")).data[4 * (1280 * 790 + 10)] > 128, "the desk is light");
});

shellTest("palette_a_row_is_taken_by_the_mouse", async (shell) => {
  await write(shell, "/app:");
  const files = await shell.until(async () => (await rows(shell)).find((r) => r.name.startsWith("/app:files ")), "Files is a row");
  await press(shell, files.name);
  await shell.until(() => opened(shell, "Files"), "Files opens");
});
