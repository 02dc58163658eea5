// What `cargo xtask test` hands to the scripts, and the packages it installed for them.
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

function given(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: start the suite with \`cargo xtask test --only e2e\``);
  return value;
}

/** The address of the finished site, without a slash at the end. */
export const BASE = given("BASE_URL");
/** Chromium or Chrome. */
export const CHROME = given("CHROME");
/** Where pictures and other leavings of a run go. */
export const OUT = given("TEST_OUT");
/** Committed snapshots. */
export const SNAPSHOTS = fileURLToPath(new URL("../snapshots/", import.meta.url));
/** Whether snapshots are rewritten rather than compared (`cargo xtask fixtures`). */
export const UPDATE = process.env.UPDATE === "1";

/** Loads one of the packages that tests/e2e/package.json names. They lie outside the checkout. */
export const tool = createRequire(join(given("TEST_MODULES"), "..", "package.json"));
