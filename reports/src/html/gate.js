// The page of a gate: a table of cases with filters; every case with a run opens it below its row.
"use strict";

const gate = data;
let shown = null;
keys(() => shown);

const failed = (one) => one.standing !== "as claimed";
const sourceOf = (one) => one.source.split("#")[0];
const codeOf = (one) => one.run ? one.run.code : one.expected.replace(/^reachable: /, "").replace("unreachable", "");

const head = element(page, "header", {});
element(head, "h1", {}, "leasecheck gate");
const red = gate.cases.filter(failed).length, broken = gate.sections.reduce((sum, section) => sum + section.rows.filter((row) => !row.ok).length, 0);
element(head, "p", { class: "verdict" }, element(null, "span", { class: "pill " + (red + broken ? "bad" : "good") }, red + broken ? "failed" : "passed"),
  ` ${gate.cases.length - red} of ${gate.cases.length} cases as claimed; ${broken} other checks failed`);
const jump = element(page, "nav", { "aria-label": "parts of this page" });
const part = (title, count) => {
  const id = title.toLowerCase().replace(/[^a-z]+/g, "-");
  element(jump, "a", { href: "#" + id }, `${title} (${count})`);
  return element(page, "section", { id }, element(null, "h2", {}, title));
};

const cases = part("Cases", gate.cases.length);
const filters = element(cases, "form", { class: "filters", onsubmit: (event) => event.preventDefault() });
const choice = (label, values) => {
  const box = element(filters, "select", { onchange: filter, "aria-label": label });
  element(box, "option", { value: "" }, `every ${label}`);
  for (const value of [...new Set(values)].filter(Boolean).sort()) element(box, "option", { value }, value);
  return box;
};
const words = element(filters, "input", { type: "search", placeholder: "claim or case", "aria-label": "claim or case", oninput: filter });
const bySource = choice("source", gate.cases.map(sourceOf)), byCode = choice("invariant", gate.cases.map(codeOf)), byVerdict = choice("verdict", gate.cases.map((one) => one.verdict));
const onlyRed = element(null, "input", { type: "checkbox", onchange: filter });
element(filters, "label", {}, onlyRed, " only what is not as claimed");
const count = element(filters, "output", {});

const table = element(element(cases, "div", { class: "wide" }), "table", {});
element(element(table, "thead", {}), "tr", {}, ...["", "claim / case", "expected", "verdict", "states", "golden", "ms", "source"].map((title) => element(null, "th", { scope: "col" }, title)));
const body = element(table, "tbody", {});
let open = null;
function toggle(row, at) {
  const again = open && open.row === row;
  if (open) { open.detail.remove(); open.row.classList.remove("open"); open.button.setAttribute("aria-expanded", false); }
  open = shown = null;
  if (again) return;
  const detail = element(null, "tr", { class: "detail" }), button = row.querySelector("button");
  row.after(detail);
  row.classList.add("open");
  button.setAttribute("aria-expanded", true);
  open = { row, detail, button };
  shown = showCase(element(detail, "td", { colspan: 8 }), at, false);
}
const rows = gate.cases.map((one, at) => {
  const row = element(body, "tr", { class: failed(one) ? "bad" : "" }), number = (text) => element(row, "td", { class: "number" }, text);
  element(row, "td", {}, { "as claimed": "✓", failed: "✗" }[one.standing] || "?");
  element(element(row, "th", { scope: "row" }), "button", { type: "button", "aria-expanded": "false", onclick: () => toggle(row, at) }, `${one.claim} / ${one.case}`);
  element(row, "td", {}, one.expected);
  element(row, "td", {}, one.result);
  number(String(gate.more[at].states));
  const golden = gate.more[at].golden;
  const cell = number(golden === null ? "none" : String(golden));
  if (golden !== gate.more[at].states) cell.classList.add("differs");
  number(gate.more[at].ms.toFixed(1));
  element(row, "td", {}, one.source);
  return row;
});
function filter() {
  const text = words.value.toLowerCase();
  let left = 0;
  if (open) toggle(open.row);
  gate.cases.forEach((one, at) => {
    const fits = `${one.claim} / ${one.case}`.toLowerCase().includes(text) && (!bySource.value || sourceOf(one) === bySource.value) &&
      (!byCode.value || codeOf(one) === byCode.value) && (!byVerdict.value || one.verdict === byVerdict.value) && (!onlyRed.checked || failed(one));
    rows[at].hidden = !fits;
    if (fits) left++;
  });
  count.textContent = `${left} of ${gate.cases.length}`;
}
filter();

const charts = document.querySelectorAll('#charts [data-of="gate"]').length;
if (charts) chartsOf(part("Charts", charts), "gate");
for (const section of gate.sections) {
  const box = part(section.title, section.rows.length);
  const list = element(element(box, "div", { class: "wide" }), "table", {});
  element(element(list, "thead", {}), "tr", {}, element(null, "th", {}), ...section.head.map((title) => element(null, "th", { scope: "col" }, title)));
  const lines = element(list, "tbody", {});
  for (const row of section.rows) {
    const line = element(lines, "tr", { class: row.ok ? "" : "bad" }, element(null, "td", {}, row.ok ? "✓" : "✗"), ...row.cells.map((cell) => element(null, "td", {}, cell)));
    if (!row.detail) continue;
    const box = element(element(element(lines, "tr", { class: "below" }), "td", { colspan: section.head.length + 1 }), "details", { open: !row.ok });
    element(box, "summary", {}, line.children[1].textContent);
    element(box, "pre", {}, row.detail);
  }
}
element(page, "footer", {}, "Made by leasecheck. Times are of one run on one machine; everything else is the same everywhere.");
