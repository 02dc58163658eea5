// Opens the shell in a real browser and acts on it as a person does: every key, pointer and input
// method event goes through the browser's own input path, so that the page sees trusted events.
//
//   import { shellTest } from "./lib/harness.mjs";
//   shellTest("t160_…", { viewport: { width: 1280, height: 800 }, scheme: "dark" }, async (shell) => {
//     await shell.type("/app:files");
//     await shell.press("Enter");
//     await shell.until(async () => (await shell.axTree()).includes("Files"), "Files opens");
//   });
//
// A test fails on any error in the page that it did not allow with `shell.allowErrors(/…/)`; its
// last picture is kept and named.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { foldAxTree } from "./ax.mjs";
import { BASE, CHROME, OUT, tool } from "./env.mjs";
import { picture } from "./snapshot.mjs";

export { BASE, OUT, UPDATE, tool } from "./env.mjs";
export { isPainted, picture, snapshot } from "./snapshot.mjs";

/** Quiet, alone, and never asking the network for anything. */
const PLAIN = [
  "--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync",
  "--no-first-run", "--disable-quic", "--hide-scrollbars", "--mute-audio", "--no-default-browser-check",
  "--password-store=basic", "--use-mock-keychain", "--disable-search-engine-choice-screen",
  // A test that waits must not be slowed because nobody looks at its window.
  "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
  "--disable-backgrounding-occluded-windows",
];
/**
 * A software adapter that draws real pixels, together with the Vulkan feature below. With fewer of
 * these the canvas loses its device; with `--use-angle=vulkan` the GPU process ends itself on a
 * machine without a display, because the software driver has no window surfaces.
 */
const WEBGPU = [
  "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-unsafe-swiftshader",
  "--use-angle=swiftshader", "--use-vulkan=swiftshader",
];

/** How long the shell may take to its first frame here: software rendering, busy machine. */
const READY_MS = 90_000;

/** The shell in a browser of its own. */
export class Shell {
  /**
   * Options: `viewport`, `scale` (device pixel ratio), `scheme` ("dark" or "light"), `reducedMotion`,
   * `forcedColors`, `touch`, `locale`, `webgpu` (false: as in a browser without it), `features`
   * (names for --enable-features), `args`, `path`, `ready` (false: do not wait for the first
   * frame), `init` (a function, or `{ fn, arg }`, run in every page before its own scripts).
   */
  static async open(options = {}) {
    const shell = new Shell();
    shell.options = options;
    shell.profile = await mkdtemp(join(tmpdir(), "webgpu-os-e2e-"));
    shell.allowed = [];
    shell.errors = [];
    /** Every address the page asked for. */
    shell.requests = [];
    try {
      await shell.#launch();
    } catch (error) {
      await shell.close();
      throw error;
    }
    return shell;
  }

  async #launch() {
    const o = this.options;
    const { chromium } = tool("playwright-core");
    const webgpu = o.webgpu !== false;
    const features = [...(webgpu ? ["Vulkan"] : []), ...(o.features ?? [])];
    this.context = await chromium.launchPersistentContext(this.profile, {
      executablePath: CHROME,
      headless: true,
      // Playwright's own defaults name features of their own, and the last list would win.
      ignoreDefaultArgs: true,
      args: [
        "--headless", "--remote-debugging-pipe", `--user-data-dir=${this.profile}`,
        ...PLAIN, ...(webgpu ? WEBGPU : ["--disable-gpu", "--disable-features=WebGPU,WebGPUService"]),
        ...(features.length ? [`--enable-features=${features.join(",")}`] : []),
        ...(o.args ?? []), "about:blank",
      ],
      viewport: o.viewport ?? { width: 1280, height: 800 },
      deviceScaleFactor: o.scale ?? 1,
      colorScheme: o.scheme ?? "dark",
      reducedMotion: o.reducedMotion ? "reduce" : "no-preference",
      forcedColors: o.forcedColors ? "active" : "none",
      hasTouch: o.touch ?? false,
      locale: o.locale ?? "en-GB",
      timezoneId: "UTC",
    });
    await this.context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: BASE });
    if (!webgpu) await this.context.addInitScript(() => { delete Navigator.prototype.gpu; });
    if (o.init) {
      const { fn, arg } = typeof o.init === "function" ? { fn: o.init } : o.init;
      await this.context.addInitScript(fn, arg);
    }
    this.page = this.context.pages()[0] ?? (await this.context.newPage());
    await this.#watch(this.page);
    await this.goto(o.path ?? "/");
  }

  async #watch(page) {
    page.on("pageerror", (error) => this.errors.push(`${error.message}\n${error.stack ?? ""}`));
    page.on("crash", () => this.errors.push("the page crashed"));
    page.on("console", (message) => {
      if (message.type() === "error") this.errors.push(`console: ${message.text()} (${message.location().url})`);
    });
    page.on("request", (request) => this.requests.push(request.url()));
    this.cdp = await this.context.newCDPSession(page);
  }

  /** Loads a path of the site and waits for the first frame unless told otherwise. */
  async goto(path = "/") {
    await this.page.goto(BASE + path, { waitUntil: "load" });
    await this.#settled();
  }

  async #settled() {
    if (this.options.ready !== false) await this.ready();
  }

  /** Waits until the shell has presented its first frame; a page of words ends the wait at once. */
  async ready() {
    await this.page.waitForFunction(
      () => ["ready", "stopped"].includes(document.documentElement.dataset.shell),
      null, { timeout: READY_MS },
    );
    const state = await this.page.evaluate(() => document.documentElement.dataset.shell);
    if (state === "stopped") throw new Error(`the shell did not start: ${await this.page.innerText("#splash")}`);
  }

  /** Reloads the page; storage stays. */
  async reload() {
    await this.page.reload({ waitUntil: "load" });
    await this.#settled();
  }

  /** Ends the browser and starts it again with the same profile, as after a night. */
  async restart() {
    await this.context.close();
    await this.#launch();
  }

  /** The shell in a second tab of the same browser; it ends with this one. */
  async beside(path = "/") {
    const { options, profile, context, allowed, errors, requests } = this;
    const other = Object.assign(new Shell(), { options, profile, context, allowed, errors, requests });
    other.page = await context.newPage();
    await other.#watch(other.page);
    await other.goto(path);
    return other;
  }

  /** Drops files and folders of this computer, by their paths, as a hand does. */
  async drop(x, y, ...files) {
    const data = { items: [], files, dragOperationsMask: 1 };
    for (const type of ["dragEnter", "dragOver", "drop"]) {
      await this.cdp.send("Input.dispatchDragEvent", { type, x, y, data });
    }
  }

  /** Ends the browser and removes its profile. */
  async close() {
    await this.context?.close().catch(() => {});
    await rm(this.profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  /** Errors that match are expected by the test. */
  allowErrors(...patterns) {
    this.allowed.push(...patterns);
  }

  /** The errors that nobody expected. */
  unexpected() {
    return this.errors.filter((error) => !this.allowed.some((pattern) => pattern.test(error)));
  }

  // — acting —

  /** Types text, one real key after the other; "\n" is Enter. */
  async type(text) {
    await this.page.keyboard.type(text);
  }

  /** Presses keys one after the other: "Enter", "Shift+Enter", "Control+K". */
  async press(...keys) {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  /** One raw key event through CDP, for what a keyboard cannot spell (`commands`, code 229). */
  async key(event) {
    await this.cdp.send("Input.dispatchKeyEvent", event);
  }

  /** Sets the input method's preedit text; the caret stands at its end unless told otherwise. */
  async compose(text, { start = text.length, end = start, ...more } = {}) {
    await this.cdp.send("Input.imeSetComposition", { text, selectionStart: start, selectionEnd: end, ...more });
  }

  /** Commits text as an input method, an emoji picker or a dead key does. */
  async insertText(text) {
    await this.cdp.send("Input.insertText", { text });
  }

  /** Puts text on the clipboard. */
  async setClipboard(text) {
    await this.page.bringToFront();
    await this.page.evaluate((t) => navigator.clipboard.writeText(t), text);
  }

  /** What lies on the clipboard. */
  async clipboard() {
    await this.page.bringToFront();
    return this.page.evaluate(() => navigator.clipboard.readText());
  }

  /** Runs an editing command as the browser's own menu would: "paste", "copy", "cut", "selectAll". */
  async edit(command) {
    const [key, code, vk] = {
      paste: ["v", "KeyV", 86], copy: ["c", "KeyC", 67], cut: ["x", "KeyX", 88], selectAll: ["a", "KeyA", 65],
    }[command];
    const event = { key, code, windowsVirtualKeyCode: vk, modifiers: 2 };
    await this.key({ type: "rawKeyDown", commands: [command], ...event });
    await this.key({ type: "keyUp", ...event });
  }

  /** Pastes text: the clipboard is set, then the paste command runs. */
  async paste(text) {
    if (text !== undefined) await this.setClipboard(text);
    await this.edit("paste");
  }

  /** A click of the mouse at CSS pixels. */
  async click(x, y, options) {
    await this.page.mouse.click(x, y, options);
  }

  /** A tap of a finger at CSS pixels. */
  async tap(x, y) {
    await this.cdp.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [{ x, y }] });
    await this.cdp.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  }

  /** A finger's way over points, in CSS pixels. */
  async swipe(...points) {
    for (const [n, [x, y]] of points.entries()) {
      await this.cdp.send("Input.dispatchTouchEvent", { type: n ? "touchMove" : "touchStart", touchPoints: [{ x, y }] });
    }
    await this.cdp.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  }

  // — looking —

  /** Runs a function in the page. */
  eval(fn, arg) {
    return this.page.evaluate(fn, arg);
  }

  /** Waits until something holds; the failure says what did not. */
  async until(holds, what, { timeout = 30_000, every = 50 } = {}) {
    const end = Date.now() + timeout;
    for (;;) {
      const found = await holds();
      if (found) return found;
      if (Date.now() > end) assert.fail(`not within ${timeout / 1000} s: ${what}`);
      await new Promise((done) => setTimeout(done, every));
    }
  }

  /** The accessibility tree as text, whole or below the first element that matches. */
  async axTree(selector) {
    await this.cdp.send("Accessibility.enable");
    const { nodes } = await this.cdp.send("Accessibility.getFullAXTree");
    if (!selector) return foldAxTree(nodes);
    const { root } = await this.cdp.send("DOM.getDocument", { depth: 0 });
    const { nodeId } = await this.cdp.send("DOM.querySelector", { nodeId: root.nodeId, selector });
    if (!nodeId) return `(no element ${selector})`;
    const { node } = await this.cdp.send("DOM.describeNode", { nodeId });
    return foldAxTree(nodes, node.backendNodeId);
  }

  /** Takes a picture, keeps it as tests/out/NAME.png and returns its bytes. */
  async screenshot(name, options = {}) {
    const png = await this.page.screenshot({ animations: "allow", caret: "initial", scale: "device", ...options });
    if (name) {
      await mkdir(OUT, { recursive: true });
      await writeFile(join(OUT, `${name}.png`), png);
    }
    return png;
  }

  /** Compares what is on screen with its snapshot. */
  async looksLike(name, options) {
    await picture(name, await this.screenshot(), options);
  }
}

/**
 * A test with a shell of its own. A test that fails gets one more try in a new browser, because a
 * software GPU on a busy machine now and then loses a browser; the first failure is printed, and a
 * fault of the product fails twice. With subtests there is no second try: they are reported already.
 */
export function shellTest(name, options, body) {
  if (typeof options === "function") [options, body] = [{}, options];
  const { skip, todo, only, ...rest } = options;
  test(name, { skip, todo, only }, async (t) => {
    const tries = body.length > 1 || todo ? 1 : 2;
    for (let n = 1; ; n++) {
      try {
        return await once(name, rest, body, t);
      } catch (error) {
        if (n === tries) throw error;
        console.log(`${name}: first try failed, trying again: ${error.message}`);
      }
    }
  });
}

async function once(name, options, body, t) {
  const shell = await Shell.open(options);
  try {
    await body(shell, t);
    assert.deepEqual(shell.unexpected(), [], "the page reported errors");
  } catch (error) {
    const slug = name.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 80);
    await shell.screenshot(`failed-${slug}`).then(
      () => console.log(`picture: ${join(OUT, `failed-${slug}.png`)}`),
      () => {},
    );
    for (const line of shell.unexpected().slice(0, 10)) console.log(`page error: ${line}`);
    throw error;
  } finally {
    await shell.close();
  }
}
