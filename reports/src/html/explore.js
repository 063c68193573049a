// Walking a case by hand: the path stands in the address, and the server says where it leads.
"use strict";

const { start } = data;
let shown = null;
keys(() => shown);

const head = element(page, "header", {});
element(head, "p", { class: "name" }, start.claim);
element(head, "h1", {}, start.statement || start.claim);
const cases = element(page, "nav", { "aria-label": "cases" });
const buttons = start.cases.map((one, at) => element(cases, "button", { type: "button", onclick: () => walk(at, "") }, element(null, "span", { class: "pill unknown" }, one.expected), " ", one.name));
const walkbar = element(page, "nav", { "aria-label": "walk" });
const back = element(walkbar, "button", { type: "button", title: "Backspace", onclick: () => state && state.back !== null && walk(at().chosen, state.back) }, "← take the last step back");
element(walkbar, "button", { type: "button", onclick: () => walk(at().chosen, "") }, "to the start");
const jump = element(walkbar, "button", { type: "button", onclick: counterexample }, "to the shortest counterexample");
const save = element(walkbar, "a", { download: start.claim + ".walked.toml" }, "save this walk as a litmus case");
const message = element(page, "p", { class: "says", role: "status" });
const choices = element(page, "section", { class: "choices", "aria-label": "possible steps" });
const body = element(page, "div", {});
let state = null;

function at() {
  const parts = new URLSearchParams(location.hash.slice(1));
  return { chosen: Math.min(start.cases.length - 1, Math.max(0, parseInt(parts.get("case"), 10) || 0)), path: parts.get("path") || "" };
}
const query = (chosen, path) => new URLSearchParams({ case: chosen, path }).toString();
function walk(chosen, path) { location.hash = query(chosen, path); }

// What the server answers; that it does not any more is an answer too.
async function ask(where) {
  return fetch(where).catch(() => new Response("The server has ended: start leasecheck explore again, with --port for the same address.", { status: 503 }));
}

async function counterexample() {
  const { chosen } = at();
  message.textContent = "Exploring …";
  jump.disabled = true;
  const answer = await ask("/counterexample?" + query(chosen, ""));
  jump.disabled = false;
  if (!answer.ok) { message.textContent = await answer.text(); return; }
  const [path, words] = await answer.json();
  if (path === null) message.textContent = words; else walk(chosen, path);
}

async function show() {
  const { chosen, path } = at();
  buttons.forEach((button, other) => button.setAttribute("aria-pressed", other === chosen));
  const answer = await ask("/state?" + query(chosen, path));
  // Another step may have been taken meanwhile.
  if (path !== at().path || chosen !== at().chosen) return;
  if (!answer.ok) { message.textContent = await answer.text(); state = null; choices.replaceChildren(); body.replaceChildren(); return; }
  state = await answer.json();
  const { run, enabled } = state;
  back.disabled = state.back === null;
  save.href = "/litmus?" + query(chosen, path);
  choices.replaceChildren();
  message.className = "says" + (run.code ? " wrong" : "");
  message.replaceChildren();
  prose(message, run.code ? `${run.code}: ${run.message}.` : state.finished ? "Everything has ended, and nothing is violated." :
    enabled.length ? "Choose what happens next (keys 1 to 9, Backspace takes back):" : "Nothing can happen any more.");
  enabled.forEach((step, nth) => {
    const [name, kind] = run.agents[step.agent];
    element(choices, "button", { type: "button", "data-line": step.line, onclick: () => walk(chosen, step.path) },
      element(null, "kbd", {}, String(nth + 1)), " ", element(null, "b", {}, name), kind === "thread" || kind === "finally" ? ": " : " runs ", element(null, "code", {}, step.text));
  });
  body.replaceChildren();
  if (run.code) reason(body, run);
  if (run.rows.length) shown = picture(element(body, "section", { class: "stage" }), run);
  else {
    shown = null;
    const stage = element(body, "section", { class: "stage" });
    listing(element(stage, "div", {}), run);
    strips(element(stage, "div", { class: "arenas" }), run)(0);
  }
  const held = run.holds.filter((hold) => !hold[5]).map(([arena, kind, name, agent]) => `${run.arenas[arena].name}: ${kind} ${name} by ${run.agents[agent][0]}`);
  element(body, "p", {}, "Held still: ", held.join("; ") || "nothing", ".");
  const list = element(body, "dl", { class: "parts", "aria-label": "variables" });
  for (const [name, value] of state.variables) { element(list, "dt", {}, name); element(list, "dd", {}, value); }
  replay(body, run.replay);
}

addEventListener("hashchange", show);
addEventListener("keydown", (event) => {
  if (!state || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Backspace" && state.back !== null) { event.preventDefault(); walk(at().chosen, state.back); }
  const step = /^[1-9]$/.test(event.key) ? state.enabled[+event.key - 1] : null;
  if (step) walk(at().chosen, step.path);
});
show();
