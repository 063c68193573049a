// The pages, as a person uses them.
import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { close, explore, folder, leasecheck, open, reported, root } from "./lib.mjs";

after(close);
const at = (name) => join(folder, name);
const url = (name) => pathToFileURL(at(name)).href;
const shots = process.env.SCREENSHOTS;
const shot = async (page, name) => { if (shots) await page.screenshot({ path: join(shots, name), fullPage: true }); };

test("a counterexample is scrubbed to the violation with the keyboard", async () => {
  leasecheck("check", reported, "--html", at("run.html"));
  assert.ok(statSync(at("run.html")).size < 1 << 20);
  for (const colorScheme of ["light", "dark"]) {
    const { page, wrong } = await open(url("run.html"), { colorScheme });
    await page.keyboard.press("Home");
    assert.match(await page.textContent(".where"), /step 0 of 7/);
    assert.equal(await page.locator(".program li.now").count(), 0);
    for (let step = 0; step < 6; step++) await page.keyboard.press("ArrowRight");
    assert.match(await page.textContent(".program li.now"), /copy: read idx/);
    assert.equal(await page.locator(".program li.wrong").count(), 0, "nothing is wrong before the last step");
    await page.keyboard.press("End");
    assert.match(await page.textContent(".says"), /stale-index: idx is read before it was produced/);
    assert.match(await page.textContent(".program li.now.wrong"), /copy: read idx -> host_idx/);
    assert.match(await page.textContent(".program li.late"), /copy: wait ready/);
    assert.match(await page.textContent("svg .row.wrong .what"), /read idx/);
    assert.equal(await page.locator("svg .arrow.missing").count(), 1);
    assert.match(await page.textContent(".reason .missing"), /Nothing makes copy: read idx -> host_idx wait for compute: produce idx from a/);
    assert.deepEqual(await page.locator(".order .end").allTextContents(), ["compute produce idx from a enqueued in step 4, not executed yet", "copy read idx -> host_idx enqueued in step 6, executed in step 7"]);
    assert.match(await page.textContent(".says .means"), /waits until the stream has read the index buffer/);
    assert.match(await page.textContent(".others"), /Not reachable when: wait first/);
    assert.equal(await page.locator(".charts figure").count(), 2, "how likely, and how many states");
    await page.keyboard.press("ArrowLeft");
    assert.match(await page.textContent(".where"), /step 6 of 7/);
    await page.keyboard.press("End");
    await shot(page, `run-${colorScheme}.png`);
    await page.click("nav button >> text=wait first");
    assert.equal(await page.locator(".stage").count(), 0);
    assert.deepEqual(await page.locator(".program li.changed").allTextContents(), ["copy: wait ready"], "what differs from the case that fails");
    assert.deepEqual(wrong, []);
    await page.close();
  }
});

test("two steps that can both come next are shown as such", async () => {
  leasecheck("check", "tests/litmus/seed/event-waited-before-recorded.toml", "--case", "submitted too early", "--html", at("race.html"));
  const { page, wrong } = await open(url("race.html"));
  assert.deepEqual(await page.locator("svg .row.next .what").allTextContents(), ["write a", "backup a -> h"]);
  assert.deepEqual(await page.locator("svg .row.next .number").allTextContents(), ["next", "or"]);
  assert.deepEqual(await page.locator(".program li.wrong").allTextContents(), ["compute: write a", "copy: backup a -> h"]);
  assert.equal(await page.locator("svg .row.wrong:not(.next)").count(), 0, "no step that was taken is wrong");
  assert.match(await page.textContent(".says"), /^After step 6\. race/);
  await page.keyboard.press("Home");
  assert.equal(await page.locator(".program li.wrong").count(), 0);
  await page.keyboard.press("End");
  await shot(page, "race.png");
  assert.deepEqual(wrong, []);
  await page.close();
});

test("a run is printed whole, on white", async () => {
  leasecheck("check", reported, "--html", at("printed.html"));
  const { page, wrong } = await open(url("printed.html"), { colorScheme: "dark" });
  await page.emulateMedia({ media: "print" });
  const shown = await page.evaluate(() => {
    dispatchEvent(new Event("beforeprint"));
    const hidden = (name) => getComputedStyle(document.querySelector(name)).display === "none";
    const lanes = document.querySelector(".lanes");
    return { rows: document.querySelectorAll("svg .row").length, controls: hidden(".controls"), nav: hidden("nav"), back: getComputedStyle(document.body).backgroundColor, cut: lanes.scrollHeight > lanes.clientHeight + 1 && getComputedStyle(lanes).overflowY !== "visible" };
  });
  assert.deepEqual(shown, { rows: 7, controls: true, nav: true, back: "rgb(255, 255, 255)", cut: false });
  const pdf = await page.pdf({ format: "A4", path: shots ? join(shots, "run.pdf") : undefined });
  assert.ok(pdf.length > 10_000);
  assert.deepEqual(wrong, []);
  await page.close();
});

test("a page that moves is seen moving", async () => {
  leasecheck("check", "tests/litmus/seed/lease-ends-before-view-used.toml", "--html", at("moved.html"));
  const { page, wrong } = await open(url("moved.html"));
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  const block = page.locator(".page", { hasText: /^swa 5$/ }), left = () => block.evaluate((node) => node.getBoundingClientRect().left);
  const before = await left();
  const handle = await block.elementHandle();
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.locator(".touch.moved").count(), 3);
  await page.waitForFunction(([node, before]) => node.isConnected && node.getBoundingClientRect().left < before - 10, [handle, before]);
  await shot(page, "moved.png");
  await page.keyboard.press("End");
  assert.equal(await page.locator(".touch.wrong").count(), 1, "the bytes that the stale address leads to are marked");
  assert.deepEqual(wrong, []);
  await page.close();
});

test("ten thousand steps stay responsive", async () => {
  const text = `name = "long"\nsource = "a test"\nclaim = "long"\n\n[arena.host]\nbytes = 48\nbands.full = { envelope = 8, page_tokens = 4, grow = "up" }\n
[[case]]\nname = "long"\nexpect = { reachable = "leak" }\nwitness = ["finished"]\nthreads.t = """\nlet n = 0\nwhile n < 3333 { set f\nlet n = n + 1 }\ncheck n == 0 else leak\n"""\n`;
  writeFileSync(at("long.toml"), text);
  leasecheck("check", at("long.toml"), "--html", at("long.html"));
  const { page, wrong } = await open(url("long.html"));
  assert.match(await page.textContent(".where"), /of 10001|of 1000\d/);
  assert.ok(await page.locator("svg .row").count() < 120, "only what is seen is drawn");
  await page.keyboard.press("Home");
  const taken = await page.evaluate(() => {
    const begun = performance.now();
    for (let at = 0; at < 50; at++) document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    return performance.now() - begun;
  });
  assert.match(await page.textContent(".where"), /step 50 of/);
  assert.ok(taken < 30_000, `50 steps took ${taken} ms`);
  assert.deepEqual(wrong, []);
  await page.close();
});

// The page that the gate itself has written, if there is one: a gate takes minutes.
const gate = process.env.GATE_REPORT || at("gate");
if (!process.env.GATE_REPORT) test("a gate writes its page", () => { leasecheck("gate", "--corpus", "tests/litmus/seed", "--report", gate); });

test("the table of a gate is filtered, and a row opens its run", async () => {
  const { page, wrong } = await open(pathToFileURL(join(gate, "index.html")).href);
  const rows = page.locator("#cases tbody tr:not(.detail):visible"), all = await rows.count();
  assert.ok(all > 30);
  await page.selectOption("select[aria-label=invariant]", "stale-index");
  const some = await rows.count();
  assert.ok(some > 0 && some < all);
  await page.fill("input[type=search]", "index-read-before-producer-wait / as");
  await page.selectOption("select[aria-label=verdict]", "reachable");
  assert.equal(await rows.count(), 1);
  await rows.locator("button").first().click();
  await page.keyboard.press("End");
  assert.match(await page.textContent(".detail .says"), /stale-index/);
  await rows.locator("button").first().click();
  assert.equal(await page.locator(".detail").count(), 0);
  await page.check("input[type=checkbox]");
  assert.equal(await rows.count(), 0, "nothing is red");
  assert.equal(await page.locator("main .charts figure svg").count(), 2);
  const parts = await page.locator("main nav a").allTextContents();
  for (const part of ["Ablation", "Models", "Configuration gates", "Marks and gaps", "Conformance: what SGLang does otherwise", "Fuzz targets"]) assert.ok(parts.some((name) => name.startsWith(part)), `${part} in ${parts}`);
  await page.uncheck("input[type=checkbox]");
  await page.fill("input[type=search]", "");
  await page.selectOption("select[aria-label=verdict]", "");
  await page.selectOption("select[aria-label=invariant]", "");
  await shot(page, "gate.png");
  assert.deepEqual(wrong, []);
  await page.close();
});

test("every red row of a gate opens its run", async () => {
  // The page of a gate in which two cases have failed: one that has a run, and one that has none.
  const text = readFileSync(join(gate, "index.html"), "utf8"), begin = text.indexOf('id="data">') + 10, end = text.indexOf("</script>", begin);
  const data = JSON.parse(text.slice(begin, end));
  const failing = [data.cases.find((one) => one.run), data.cases.find((one) => !one.run)];
  for (const one of failing) Object.assign(one, { standing: "failed", expected: "unreachable", why: "it is made to fail" });
  Object.assign(data.sections[1].rows[0], { ok: false, detail: "a sequence\nthat shows it" });
  writeFileSync(at("red.html"), text.slice(0, begin) + JSON.stringify(data).replaceAll("<", "\\u003c") + text.slice(end));
  const { page, wrong } = await open(url("red.html"));
  assert.match(await page.textContent("header .pill"), /failed/);
  await page.check("input[type=checkbox]");
  const rows = page.locator("#cases tbody tr.bad:visible");
  assert.equal(await rows.count(), 2);
  const nth = data.cases.filter((one) => failing.includes(one)).map((one) => failing.indexOf(one));
  await rows.nth(nth.indexOf(0)).locator("button").first().press("Enter");
  assert.equal(await page.locator(".detail .lanes svg .row").count() > 0, true);
  assert.match(await page.textContent(".detail .verdict"), /it is made to fail/);
  await page.keyboard.press("Home");
  assert.match(await page.textContent(".detail .says"), /The start/);
  await rows.nth(nth.indexOf(1)).locator("button").first().click();
  assert.ok(await page.locator(".detail .program li").count() > 0, "a case without a run shows its program");
  assert.match(await page.textContent("tr.below details[open] pre"), /that shows it/, "what fails elsewhere is open");
  assert.deepEqual(wrong, []);
  await page.close();
});

test("a claim is walked by hand to its violation", async () => {
  const { address, end } = await explore(reported);
  const { page, wrong } = await open(address);
  for (const step of ["alloc device.full 2", "alloc host.full 2", "write a", "produce idx", "record ready", "read idx"]) {
    await page.locator(".choices button", { hasText: "scheduler" }).filter({ hasText: step }).click();
    await page.waitForFunction((step) => document.querySelector(".where")?.textContent && document.querySelector(".says + .legend, .stage .says")?.textContent.includes(step), step);
  }
  await page.locator(".choices button", { hasText: "copy runs" }).click();
  await page.waitForSelector(".says.wrong[role=status]");
  assert.match(await page.textContent("[role=status]"), /stale-index/);
  assert.equal(await page.locator(".choices button").count(), 0);
  const walked = page.url();
  const saved = await page.evaluate(() => fetch(document.querySelector("a[download]").href).then((answer) => answer.text()));
  writeFileSync(at("walked.toml"), saved);
  assert.match(leasecheck("check", at("walked.toml")), /reachable: stale-index/);
  await page.keyboard.press("Backspace");
  await page.waitForSelector(".choices button >> text=copy");
  await page.click("text=to the start");
  await page.waitForFunction(() => !document.querySelector(".where"));
  await page.click("text=to the shortest counterexample");
  await page.waitForSelector(".says.wrong[role=status]");
  assert.equal(page.url(), walked, "the walk was the shortest counterexample");
  await shot(page, "explore.png");
  // The address is all that there is to a walk: another tab goes on from it, and neither disturbs the other.
  const other = await open(walked);
  await other.page.waitForSelector(".says.wrong[role=status]");
  await other.page.keyboard.press("Backspace");
  await other.page.waitForSelector(".choices button");
  assert.match(await page.textContent("[role=status]"), /stale-index/);
  const before = other.page.url();
  await other.page.keyboard.press("1");
  await other.page.waitForFunction((before) => location.href !== before, before);
  await other.page.goBack();
  await other.page.waitForSelector(".choices button");
  for (const path of ["////", "%00", "A".repeat(5000), "<script>alert(1)</script>", "../../etc/passwd"]) {
    await other.page.evaluate((path) => { location.hash = new URLSearchParams({ case: 0, path }); }, path);
    await other.page.waitForFunction(() => /not a schedule|cannot be taken/.test(document.querySelector("[role=status]").textContent));
    assert.equal(await other.page.locator(".choices button").count(), 0);
  }
  assert.deepEqual(other.wrong.filter((said) => !/status of 400/.test(said)), []);
  await other.page.close();
  assert.deepEqual(wrong, []);
  await page.close();
  const { port } = new URL(address);
  const status = (headers, path = "/") => new Promise((done, failed) => request({ host: "127.0.0.1", port, path, headers }, (answer) => { answer.resume(); done(answer.statusCode); }).on("error", failed).end());
  assert.equal(await status({}), 200);
  assert.equal(await status({ Host: `evil.example:${port}` }), 403);
  assert.equal(await status({}, "/state?case=0&path=////"), 400);
  assert.equal(await status({}, "/state?case=7&path="), 404);
  assert.equal(await end(), 0, "Ctrl-C ends it");
});

test("hostile names are shown as text", async () => {
  const name = "<script>alert(1)</script> <img src=x onerror=alert(1)> \\\" ' & \u202e";
  const text = readFileSync(join(root, reported), "utf8").replace(/^claim .*$/m, `claim = "${name}"`).replace('"as reported"', `"${name}"`);
  writeFileSync(at("hostile.toml"), text);
  leasecheck("check", at("hostile.toml"), "--html", at("hostile.html"), "--svg", at("hostile.svg"));
  const { page, wrong } = await open(url("hostile.html"));
  assert.match(await page.textContent("h1"), /<script>alert\(1\)<\/script> <img/);
  assert.match(await page.textContent("h1"), /U\+202E/);
  assert.equal(await page.locator("img").count(), 0);
  const drawing = await open(url("hostile.svg"));
  assert.match(await drawing.page.textContent("title"), /<script>/);
  assert.deepEqual([...wrong, ...drawing.wrong], []);
  await page.close();
});
