// What the tests share: the program, a folder for its output, and a browser that may ask nobody but this machine.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
export const program = process.env.LEASECHECK || join(root, "target/release/leasecheck");
export const folder = mkdtempSync(join(tmpdir(), "leasecheck-browser-"));
export const reported = "tests/litmus/seed/index-read-before-producer-wait.toml";
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/** Runs the program in the root of the repository; exit codes 0 and 1 are answers. */
export function leasecheck(...words) {
  try {
    return execFileSync(program, words, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    if (error.status === 1) return error.stdout;
    throw new Error(`${words.join(" ")}: ${error.stderr}`);
  }
}

/** Starts `leasecheck explore`; its address, and how to end it. */
export async function explore(file) {
  const child = spawn(program, ["explore", file], { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise((found, failed) => {
    child.stdout.once("data", (line) => found(String(line).trim()));
    child.once("exit", (code) => failed(new Error(`explore ended with ${code}`)));
  });
  return { address, end: () => new Promise((ended) => { child.once("exit", ended); child.kill("SIGINT"); }) };
}

let browser;
/** A page, and everything that it said or asked for that it must not. */
export async function open(url, options = {}) {
  const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
  browser ??= await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args });
  const page = await browser.newPage({ viewport: { width: 1300, height: 900 }, ...options });
  const wrong = [];
  const origin = url.startsWith("http") ? new URL(url).origin : null;
  page.on("console", (said) => { if (["error", "warning"].includes(said.type())) wrong.push(said.text()); });
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("dialog", (dialog) => { wrong.push("a dialog: " + dialog.message()); dialog.dismiss(); });
  page.on("request", (request) => {
    const asked = request.url();
    if (asked !== url && !asked.startsWith("data:") && !(origin && asked.startsWith(origin + "/"))) wrong.push("a request to " + asked);
  });
  await page.goto(url);
  return { page, wrong };
}

export const close = async () => { if (browser) await browser.close(); };
