// The engine as a module of another page's own: what it finds in the page's object, what it gives out
// and what it refuses.
import assert from "node:assert/strict";
import { shellTest } from "./lib/harness.mjs";

/** Run in the page: a storage over a plain object of files, and the module. */
async function engine(files) {
  const { default: init, ...api } = await import("/embed/embed.js");
  await init();
  const asked = [];
  const storage = {
    list: async (path) => {
      asked.push(path);
      const inside = Object.keys(files).filter((f) => f.startsWith(`${path}/`)).map((f) => f.slice(path.length + 1));
      if (!inside.length) return undefined;
      const names = new Map(inside.map((f) => [f.split("/")[0], f.includes("/") ? "folder" : "file"]));
      return [...names].map(([name, kind]) => ({ name, kind }));
    },
    read: async (path) => {
      asked.push(path);
      return files[path];
    },
  };
  return { api, storage, asked };
}

const FILES = {
  "/mnt/project/.agents/skills/release-audit/SKILL.md":
    "---\nname: release-audit\ndescription: Checks a release. Use before publishing.\nallowed-tools: files.write bash\n---\nLook at é and 日.\n",
  "/mnt/project/.agents/skills/release-audit/scripts/run.sh": "rm -rf /\n",
  "/mnt/project/.claude/skills/bad/SKILL.md": "no frontmatter\n",
  "/mnt/project/AGENTS.md": "Be brief.\n",
  "/mnt/project/src/AGENTS.md": "Tabs only.\n",
  "/mnt/project/.cursor/rules/rust.mdc": "---\nglobs: src/**/*.rs\n---\nNo panic.\n",
  "/mnt/project/src/a.rs": "fn a() {}\n",
};

const inPage = (shell, body) => shell.eval(
  `(async () => { const { api, storage, asked } = await (${engine})(${JSON.stringify(FILES)}); const files = ${JSON.stringify(FILES)};
    const thrown = async (f) => { try { await f(); return null; } catch (e) { return { name: e.name, code: e.code, subject: e.subject, observed: e.observed, message: e.message }; } };
    ${body} })()`);

shellTest("embed_packages_are_found_activated_and_never_more_than_read", { ready: false }, async (shell) => {
  const seen = await inPage(shell, `
    const p = await api.discoverWorkspaceSkillPackages(storage, { workspaceRoot: "/mnt/project" });
    const skill = await p.activate("release-audit");
    return { catalog: p.catalog, diagnostics: p.diagnostics, skill, asked, unknown: await thrown(() => p.activate("nope")), bad: await thrown(() => p.activate("bad")) };`);
  assert.deepEqual(seen.catalog.map((e) => [e.name, e.verdict]).filter(([n]) => n === "release-audit"), [["release-audit", "Portable"]]);
  const shown = JSON.stringify(seen.catalog);
  for (const secret of ["Look at", "SKILL.md", "scripts", seen.skill.contentHash]) assert.ok(!shown.includes(secret), `${secret}: ${shown}`);
  assert.equal(seen.skill.body, "Look at é and 日.\n");
  assert.match(seen.skill.contentHash, /^[0-9a-f]{64}$/);
  assert.deepEqual(seen.skill.requestedToolHints, ["files.write", "bash"]);
  assert.equal(seen.skill.requestedToolHintsAreAuthority, false);
  assert.equal(seen.skill.provenance.path, ".agents/skills/release-audit/SKILL.md");
  assert.ok(seen.diagnostics.some((d) => d.place.includes("bad") && d.code && d.fix), JSON.stringify(seen.diagnostics));
  assert.ok(!seen.asked.some((p) => p.includes("scripts/")), "what lies beside a SKILL.md is not touched");
  assert.equal(seen.unknown.name, "Refusal");
  assert.ok(seen.unknown.code && seen.bad.code, JSON.stringify(seen));
});

shellTest("embed_a_changed_byte_between_look_and_activation_is_refused", { ready: false }, async (shell) => {
  const error = await inPage(shell, `
    const changed = { ...files }; const key = "/mnt/project/.agents/skills/release-audit/SKILL.md";
    const moving = { list: storage.list, read: async (p) => changed[p] };
    const p = await api.discoverWorkspaceSkillPackages(moving, { workspaceRoot: "/mnt/project" });
    changed[key] = changed[key].replace("Look", "look");
    return thrown(() => p.activate("release-audit"));`);
  assert.match(error.code, /Changed/i, JSON.stringify(error));
});

shellTest("embed_conventions_apply_by_target_with_their_reasons", { ready: false }, async (shell) => {
  const seen = await inPage(shell, `
    const at = { workspaceRoot: "/mnt/project", targets: ["/mnt/project/src/a.rs"] };
    return { full: await api.loadWorkspaceConventions(storage, { ...at, metadata: true }), plain: await api.loadWorkspaceConventions(storage, at),
      outside: await thrown(() => api.loadWorkspaceConventions(storage, { ...at, targets: ["../etc/passwd"] })) };`);
  assert.deepEqual(seen.full.blocks.map((b) => b.source), ["AGENTS.md", ".cursor/rules/rust.mdc", "src/AGENTS.md"]);
  const rule = seen.full.blocks.find((b) => b.source.endsWith(".mdc"));
  assert.deepEqual(rule.matched, [{ target: "src/a.rs", pattern: "src/**/*.rs" }]);
  assert.ok(seen.full.blocks.every((b) => b.why && /^[0-9a-f]{64}$/.test(b.contentHash)));
  assert.equal(typeof seen.plain.blocks[0], "string");
  assert.equal(seen.plain.blocks.length, 3);
  assert.equal(seen.outside.code, "TargetOutsideMount");
});

shellTest("embed_a_storage_that_misbehaves_is_an_answer_and_no_crash", { ready: false }, async (shell) => {
  const seen = await inPage(shell, `
    const look = (s, o = { workspaceRoot: "/mnt/project" }) => api.discoverWorkspaceSkillPackages(s, o);
    const rows = {};
    rows.none = (await thrown(() => look({}))).code;
    rows.root = (await thrown(() => look(storage, { workspaceRoot: "/mnt/project/../x" }))).code;
    rows.options = (await thrown(() => look(storage, {}))).code;
    for (const [name, list] of Object.entries({
      throws: () => { throw new Error("disk on fire"); }, rejects: () => Promise.reject(new Error("disk on fire")),
      number: () => 7, odd: () => [{ name: "x", kind: "socket" }], never: () => undefined,
      huge: () => Array.from({ length: 5000 }, (_, n) => ({ name: "d" + n, kind: "folder" })),
    })) {
      const p = await look({ list, read: () => 7 });
      rows[name] = [p.catalog.length, p.diagnostics.map((d) => d.cause).join(" ").slice(0, 300)];
    }
    return rows;`);
  assert.deepEqual([seen.none, seen.root, seen.options], ["StorageInvalid", "WorkspaceRootInvalid", "OptionsInvalid"]);
  for (const name of ["throws", "rejects"]) assert.match(seen[name][1], /disk on fire/, name);
  assert.match(seen.number[1], /list gave no entries/);
  assert.equal(seen.never[1], "", "an empty workspace is no fault");
  assert.ok(seen.huge[1].length > 0);
});
