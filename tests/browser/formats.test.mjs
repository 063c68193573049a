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

test("a trace has what Perfetto's documentation of Chrome's format asks for", () => {
  const file = join(folder, "trace.json");
  leasecheck("check", reported, "--perfetto", file);
  const event = {
    type: "object", required: ["ph", "pid", "tid", "name"],
    properties: { ph: { enum: ["M", "X", "s", "f", "b", "e", "i"] }, pid: { type: "integer" }, tid: { type: "integer" }, ts: { type: "number" }, name: { type: "string" } },
    allOf: [
      { if: { properties: { ph: { const: "X" } } }, then: { required: ["ts", "dur"] } },
      { if: { properties: { ph: { enum: ["s", "f", "b", "e"] } } }, then: { required: ["ts", "id", "cat"] } },
      { if: { properties: { ph: { const: "M" } } }, then: { required: ["args"] } },
    ],
  };
  const validate = new Ajv({ strict: false }).compile({ type: "object", required: ["traceEvents"], properties: { traceEvents: { type: "array", minItems: 1, items: event } } });
  valid(validate, JSON.parse(readFileSync(file, "utf8")));
});
