// The formats, against published schemas and independent parsers.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import Ajv from "ajv";
import Ajv2020 from "ajv/dist/2020.js";
import Draft04 from "ajv-draft-04";
import formats from "ajv-formats";
import { buildModel } from "@tracerbench/trace-model";
import { XMLParser, XMLValidator } from "fast-xml-parser";
import { folder, leasecheck, reported, root } from "./lib.mjs";

const require = createRequire(import.meta.url);
// A claim that fails, under a name that breaks what does not escape.
const failing = join(folder, "failing & <more>.toml");
writeFileSync(failing, readFileSync(join(root, reported), "utf8").replace(/\{ reachable = "stale-index" \}/, '"unreachable"').replace('"as reported"', "'<a> \"b\" & %0A'"));

const valid = (validate, value) => assert.ok(validate(value), JSON.stringify(validate.errors, null, 1));

test("SARIF is valid under the published schema", () => {
  const ajv = new Draft04({ strict: false, allErrors: true, unicodeRegExp: false });
  formats(ajv);
  const validate = ajv.compile(require("@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json"));
  for (const file of [failing, reported, "no/such/file.toml"]) {
    let text;
    try { text = leasecheck("check", file, "--format", "sarif"); } catch { continue; }
    valid(validate, JSON.parse(text));
  }
  const log = JSON.parse(leasecheck("check", failing, "--format", "sarif"));
  assert.equal(log.runs[0].results.length, 1);
  delete log.runs[0].tool;
  assert.ok(!validate(log), "the validator refuses what is wrong");
});

test("JSON is valid under the schema that the program prints", () => {
  const schema = JSON.parse(leasecheck("list", "schema"));
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { uint8: true, uint16: true, uint32: true, uint64: true, uint: true } });
  const validate = ajv.compile(schema);
  const report = JSON.parse(leasecheck("check", failing, "--format", "json"));
  valid(validate, report);
  delete report.cases[0].counterexample.rows[0].text;
  assert.ok(!validate(report), "the validator refuses what is wrong");
});

test("JUnit is well-formed and counts what failed", () => {
  const text = leasecheck("check", failing, "--format", "junit");
  assert.equal(XMLValidator.validate(text), true);
  const report = new XMLParser({ ignoreAttributes: false }).parse(text);
  assert.equal(report.testsuites["@_failures"], "1");
});

// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU is the format, "Trace Event Format".
test("a trace is what Perfetto's documentation of the format asks for", () => {
  const event = {
    type: "object", required: ["ph", "pid", "tid", "ts", "name", "cat", "args"],
    properties: { ph: { enum: ["M", "X", "s", "f", "b", "e", "i"] }, pid: { type: "integer" }, tid: { type: "integer" }, ts: { type: "integer" }, name: { type: "string", minLength: 1 }, args: { type: "object" } },
    allOf: [
      { if: { properties: { ph: { const: "X" } } }, then: { required: ["dur"], properties: { dur: { type: "integer", minimum: 1 } } } },
      { if: { properties: { ph: { enum: ["s", "f", "b", "e"] } } }, then: { required: ["id"], properties: { id: { type: "string" } } } },
      { if: { properties: { ph: { const: "f" } } }, then: { required: ["bp"], properties: { bp: { const: "e" } } } },
      { if: { properties: { ph: { const: "i" } } }, then: { required: ["s"], properties: { s: { enum: ["g", "p", "t"] } } } },
      { if: { properties: { ph: { const: "M" } } }, then: { properties: { name: { enum: ["process_name", "thread_name", "thread_sort_index"] } } } },
    ],
  };
  const validate = new Ajv({ strict: false, allErrors: true }).compile({ type: "object", required: ["traceEvents"], properties: { traceEvents: { type: "array", minItems: 1, items: event } } });
  const seed = "tests/litmus/seed/", runs = [reported, failing, seed + "lease-spans-async-transfer.toml", seed + "event-waited-before-recorded.toml"];
  const seen = new Set();
  for (const [nth, litmus] of runs.entries()) {
    const file = join(folder, `trace-${nth}.json`);
    leasecheck("check", litmus, "--perfetto", file);
    const trace = JSON.parse(readFileSync(file, "utf8")), { traceEvents } = trace;
    valid(validate, trace);
    traceEvents.forEach((one) => seen.add(one.ph));
    // An independent reader finds every process and every thread, with its name.
    const model = buildModel(traceEvents);
    assert.deepEqual(model.processes.filter((process) => !process.name), []);
    const of = (...phases) => traceEvents.filter((one) => phases.includes(one.ph)), track = (one) => `${one.pid}/${one.tid}`;
    const named = new Set(of("M").filter((one) => one.name === "thread_name").map(track));
    assert.ok(of("X", "i", "s", "f").every((one) => named.has(track(one))), "every track has a name");
    assert.ok(traceEvents.every((one, at) => !at || traceEvents[at - 1].ts <= one.ts), "times go on");
    const slices = of("X");
    for (const [at, one] of slices.entries()) assert.ok(slices.slice(at + 1).every((other) => track(other) !== track(one) || other.ts >= one.ts + one.dur), "slices of a track do not overlap");
    const bound = (end) => slices.filter((one) => track(one) === track(end) && one.ts <= end.ts && end.ts < one.ts + one.dur);
    const same = (one) => [one.cat, one.id, one.name, one.ph === "b" || one.ph === "e" ? one.pid : ""].join();
    for (const [first, second] of [["s", "f"], ["b", "e"]]) {
      assert.equal(of(first).length, of(second).length);
      assert.equal(new Set(of(first).map(same)).size, of(first).length, "ids are not used twice");
      for (const begin of of(first)) {
        const end = of(second).filter((one) => same(one) === same(begin));
        assert.ok(end.length === 1 && end[0].ts >= begin.ts, `${first} has its ${second}`);
        if (first === "s") assert.ok(bound(begin).length === 1 && bound(end[0]).length === 1, "a flow goes from a slice to a slice");
      }
    }
  }
  assert.deepEqual([...seen].sort(), ["M", "X", "b", "e", "f", "i", "s"], "every kind of event was there");
});
