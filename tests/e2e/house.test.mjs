// The site and the page before the shell: headers, addresses, and words where WebGPU is missing.
import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { BASE, shellTest, snapshot } from "./lib/harness.mjs";

const MODEL = "/model/SmolLM2-135M-Instruct.Q4_1.gguf";

/** A request whose path goes out exactly as written; `fetch` would tidy it up first. */
function raw(path, headers = {}) {
  const { hostname, port } = new URL(BASE);
  return new Promise((done, fail) => {
    const asked = request({ hostname, port, path, headers, agent: false }, (reply) => {
      const chunks = [];
      reply.on("data", (chunk) => chunks.push(chunk));
      reply.on("end", () => done({ status: reply.statusCode, headers: reply.headers, body: Buffer.concat(chunks) }));
    });
    asked.on("error", fail);
    asked.end();
  });
}

test("every address carries isolation headers and a policy without inline code", async () => {
  for (const path of ["/", "/boot.js", "/splash.css", "/nowhere"]) {
    const { headers } = await raw(path);
    assert.equal(headers["cross-origin-opener-policy"], "same-origin", path);
    assert.equal(headers["cross-origin-embedder-policy"], "require-corp", path);
    assert.equal(headers["x-content-type-options"], "nosniff", path);
    const policy = headers["content-security-policy"];
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /script-src 'self' 'wasm-unsafe-eval';/);
    assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'/);
  }
});

test("files have their types, and unknown addresses are 404", async () => {
  for (const [path, type] of [
    ["/", /^text\/html/], ["/shell.js", /^text\/javascript/], ["/shell_bg.wasm", /^application\/wasm$/],
    ["/splash.css", /^text\/css/], ["/icon.svg", /^image\/svg/], ["/manifest.webmanifest", /^application\/manifest/],
    ["/fonts/Inter-Regular.ttf", /^font\/ttf$/], ["/fonts/JetBrainsMono-Regular.ttf", /^font\/ttf$/],
  ]) {
    const reply = await raw(path);
    assert.equal(reply.status, 200, path);
    assert.match(reply.headers["content-type"], type, path);
    assert.equal(Number(reply.headers["content-length"]), reply.body.length, path);
  }
  assert.equal((await raw("/nowhere")).status, 404);
});

test("the model comes in ranges, whole bytes and right length", async () => {
  const head = await raw(MODEL, { range: "bytes=0-3" });
  assert.equal(head.status, 206);
  assert.equal(head.body.toString("latin1"), "GGUF");
  assert.equal(head.headers["content-range"], "bytes 0-3/98362432");
  const tail = await raw(MODEL, { range: "bytes=-16" });
  assert.equal(tail.body.length, 16);
  assert.equal((await raw(MODEL, { range: "bytes=98362432-" })).status, 416);
});

test("no address leads out of the site, and no other host name in", async () => {
  for (const path of ["/../Cargo.toml", "/%2e%2e/Cargo.toml", "/fonts/..%2f..%2fCargo.toml", "/..%5cCargo.toml", "//etc/passwd"]) {
    const reply = await raw(path);
    assert.equal(reply.status, 404, path);
    assert.doesNotMatch(reply.body.toString(), /workspace|root:/);
  }
  assert.equal((await raw("/", { host: "shell.example" })).status, 403);
});

shellTest("the page loads isolated and without errors", { ready: false }, async (shell) => {
  await shell.until(
    () => shell.eval(() => ["started", "ready"].includes(document.documentElement.dataset.shell)),
    "the module is running", { timeout: 90_000 },
  );
  assert.equal(await shell.eval(() => crossOriginIsolated), true);
  assert.equal(await shell.page.title(), "WebGPU OS");
});

shellTest("injected code does not run", { ready: false }, async (shell) => {
  shell.allowErrors(/Content Security Policy/);
  const ran = await shell.eval(async () => {
    const script = document.createElement("script");
    script.textContent = "window.injected = true";
    document.head.append(script);
    const holder = document.createElement("div");
    holder.innerHTML = "<img src='data:,x' onerror='window.injected = true'>";
    document.body.append(holder);
    await new Promise((done) => setTimeout(done, 300));
    // After the pause this is the page's own code again; the debugger may evaluate what it likes.
    let evaluated = true;
    try { new Function("return 1")(); } catch { evaluated = false; }
    return { injected: window.injected === true, evaluated };
  });
  assert.deepEqual(ran, { injected: false, evaluated: false });
});

for (const scheme of ["light", "dark"]) {
  shellTest(`without WebGPU the page says what is missing and how to get it, ${scheme}`,
    { webgpu: false, ready: false, scheme }, async (shell) => {
      await shell.page.waitForSelector("html[data-shell=stopped]");
      const text = await shell.page.innerText("#splash");
      assert.match(text, /This browser does not offer WebGPU/);
      assert.match(text, /Nothing was lost/);
      assert.match(text, /chrome:\/\/flags\/#enable-unsafe-webgpu/);
      await shell.screenshot(`without-webgpu-${scheme}`);
      if (scheme === "light") await snapshot("without-webgpu", await shell.axTree());
      // The way back works from the keyboard.
      await shell.press("Tab");
      assert.equal(await shell.eval(() => document.activeElement.textContent), "Try again");
      const loaded = shell.page.waitForEvent("load");
      await shell.press("Enter");
      await loaded;
    });
}

shellTest("an adapter that is refused is told apart from a browser without WebGPU",
  { ready: false, init: () => { GPU.prototype.requestAdapter = async () => null; } }, async (shell) => {
    await shell.page.waitForSelector("html[data-shell=stopped]");
    assert.match(await shell.page.innerText("#splash"), /found no graphics adapter/);
  });

shellTest("a module that cannot be loaded is explained, never a blank page", { ready: false, path: "/nowhere" }, async (shell) => {
  shell.allowErrors(/404|503|shell_bg\.wasm answered/);
  await shell.page.route("**/shell_bg.wasm", (route) => route.fulfill({ status: 503, body: "" }));
  await shell.goto("/");
  await shell.page.waitForSelector("html[data-shell=stopped]");
  const text = await shell.page.innerText("#splash");
  assert.match(text, /could not be started/);
  assert.match(text, /answered 503/);
});
