// A page of cases: what is claimed, what was found, and the picture of the run.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent), terms = data.words, page = document.getElementById("page");

function parts(parent, title, all, off) {
  const box = element(parent, "details", { open: off.length > 0 });
  element(box, "summary", {}, `${title}: ${off.length ? off.length + " off, " : ""}${all.length - off.length} in force`);
  const list = element(box, "dl", { class: "parts" });
  const isOff = ([name]) => off.includes(name);
  for (const part of [...all.filter(isOff), ...all.filter((part) => !isOff(part))]) {
    element(list, "dt", { class: isOff(part) ? "off" : "" }, isOff(part) ? `OFF: ${part[0]}` : part[0]);
    prose(element(list, "dd", {}), part[1]);
  }
}

// What the steps of a program mean, for those who see the language for the first time.
function vocabulary(parent, listing, open) {
  const used = [...new Set(listing.map((line) => line[4]))].filter((step) => step >= 0).sort((one, other) => one - other);
  if (!used.length) return;
  const box = element(parent, "details", { open: open && used.length <= 10 });
  element(box, "summary", {}, "What the steps of this program mean");
  const list = element(box, "dl", { class: "parts" });
  for (const step of used) {
    element(element(list, "dt", {}), "code", {}, terms.steps[step][0].replace(/^(\[S:\]|S:) /, ""));
    prose(element(list, "dd", {}), terms.steps[step][1]);
  }
}

// Who, what, and when: one end of the missing order.
function end(run, one) {
  const queue = !["thread", "finally"].includes(run.agents[one.agent][1]);
  const said = queue && one.queued ? [`enqueued in step ${one.queued}`] : [];
  said.push(one.ran ? `${queue ? "executed" : "done"} in step ${one.ran}` : queue ? "not executed yet" : "not done yet");
  return element(null, "span", { class: "end" }, element(null, "b", {}, run.agents[one.agent][0]), " ", element(null, "code", {}, one.text), " ", element(null, "small", {}, said.join(", ")));
}

function reason(parent, run) {
  const box = element(parent, "section", { class: run.code ? "reason wrong" : "reason", "aria-label": "what went wrong" });
  if (!run.code) {
    element(box, "p", {}, "Nothing is violated in this run.");
    return;
  }
  const list = element(box, "dl", {});
  const say = (title, style) => { element(list, "dt", {}, title); return element(list, "dd", { class: style || null }); };
  const happened = say("What happens");
  prose(element(happened, "p", { class: "message" }), run.message.replace(/^[a-z]/, (c) => c.toUpperCase()) + ".");
  for (const sentence of run.because) prose(element(happened, "p", {}), sentence);
  prose(say("Why that is wrong"), `What must hold (\`${run.code}\`): ${run.doc}.`);
  if (!run.missing) return;
  const order = say("The order that is missing", "missing");
  const ends = element(order, "p", { class: "order" }, end(run, run.missing.before));
  element(ends, "span", { class: "must" }, run.missing.symmetric ? "⇠ either first ⇢" : "⇢ must come before ⇢");
  ends.append(end(run, run.missing.after));
  prose(element(order, "p", {}), run.missing.sentence);
}

function replay(parent, command) {
  const box = element(parent, "p", { class: "replay" }, "The same run in a terminal: ");
  const code = element(box, "code", { tabindex: 0 }, command);
  element(box, "button", {
    type: "button", onclick: (event) => {
      getSelection().selectAllChildren(code);
      if (navigator.clipboard) navigator.clipboard.writeText(command).then(() => { event.target.textContent = "copied"; }, () => {});
    },
  }, "copy");
}

// The lines of `one` that stand in no longest common part with `other`: what a change of the program consists of.
function changed(one, other) {
  if (one.length * other.length > 40000) return new Set();
  const same = (a, b) => one[a][0] === other[b][0] && one[a][3] === other[b][3];
  const best = [...Array(one.length + 1)].map(() => Array(other.length + 1).fill(0));
  for (let a = one.length - 1; a >= 0; a--) for (let b = other.length - 1; b >= 0; b--) {
    best[a][b] = same(a, b) ? best[a + 1][b + 1] + 1 : Math.max(best[a + 1][b], best[a][b + 1]);
  }
  const lines = new Set();
  for (let a = 0, b = 0; a < one.length;) {
    if (b < other.length && same(a, b)) { a++; b++; } else if (b < other.length && best[a][b + 1] > best[a + 1][b]) b++; else lines.add(one[a++][1]);
  }
  return lines;
}

// The program of a case without a run, and how it differs from the case of the same claim that has one.
function programOf(parent, one) {
  const box = element(parent, "section", { class: "side alone", "aria-label": "program" });
  const wrong = data.cases.find((other) => other.claim === one.claim && other.run && other.run.code);
  const lines = wrong ? changed(one.listing, wrong.run.program) : new Set();
  if (lines.size) prose(element(box, "p", {}), `Against “${wrong.case}”, where \`${wrong.run.code}\` is reachable, the marked lines are new or stand elsewhere:`);
  listing(box, { program: one.listing, missing: null, rows: [] });
  [...box.querySelectorAll("li")].filter((line) => lines.has(line.value)).forEach((line) => line.classList.add("changed"));
}

// What the search and the rolls say of a case, as charts.
function chartsOf(parent, key) {
  const all = [...document.querySelectorAll(`#charts [data-of="${key}"]`)];
  if (all.length) element(parent, "section", { class: "charts", "aria-label": "charts" }, ...all.map((chart) => chart.cloneNode(true)));
}

// One case; returns its picture, if it has a run. `alone` says whether the page is about such cases and nothing else.
function showCase(parent, at, alone) {
  const one = data.cases[at];
  parent.replaceChildren();
  const head = element(parent, "header", {});
  element(head, "p", { class: "name" }, one.claim, " / ", element(null, "b", {}, one.case));
  element(head, "h1", {}, one.statement || one.claim);
  const good = one.standing === "as claimed", bad = Boolean(one.run && one.run.code);
  const claims = one.expected.startsWith("reachable") ? "The case claims that this can happen." : "The case claims that this cannot happen, and it cannot.";
  element(head, "p", { class: "verdict" }, element(null, "span", { class: "pill " + (bad ? "bad" : good ? "good" : "unknown") }, one.result),
    ` ${one.size}. `, element(null, "span", { class: good ? "claimed" : "claimed not" }, good ? claims : `The case claims ${one.expected}, but ${one.why}.`));
  let shown = null;
  if (one.run) {
    reason(parent, one.run);
    shown = picture(element(parent, "section", { class: "stage", "aria-label": "the run" }), one.run);
    const others = data.cases.filter((other) => other.claim === one.claim && other.verdict === "unreachable");
    if (bad && others.length) element(parent, "p", { class: "others" }, "Not reachable when: ", ...others.flatMap((other, nth) => [nth ? ", " : "", element(null, "b", {}, other.case)]), ". (Other cases of the same claim: every order of their steps was explored.)");
    replay(parent, one.run.replay);
  } else if (one.listing.length) programOf(parent, one);
  const more = element(parent, "section", { class: "more" });
  vocabulary(more, one.run ? one.run.program : one.listing, alone);
  parts(more, "Rules of the design", terms.rules, one.rules_off);
  parts(more, "Assumptions", terms.assumptions, one.assumptions_off);
  chartsOf(more, at);
  element(more, "p", { class: "origin" }, `From ${one.file}; the claim comes from ${one.source}.`);
  return shown;
}

if (document.body.dataset.page === "cases") {
  const { cases } = data;
  let shown = null;
  const chooser = cases.length > 1 ? element(page, "nav", { "aria-label": "cases" }) : null;
  const body = element(page, "div", {});
  const buttons = [];
  const choose = (at) => {
    buttons.forEach((button, other) => button.setAttribute("aria-pressed", other === at));
    shown = showCase(body, at, true);
  };
  cases.forEach((one, at) => {
    if (!chooser) return;
    const button = element(chooser, "button", { type: "button", onclick: () => choose(at) },
      element(null, "span", { class: "pill " + (one.run && one.run.code ? "bad" : one.standing === "as claimed" ? "good" : "unknown") }, one.result), " ",
      cases.every((other) => other.claim === cases[0].claim) ? one.case : `${one.claim} / ${one.case}`);
    buttons.push(button);
  });
  keys(() => shown);
  if (cases.length) choose(Math.max(0, cases.findIndex((one) => one.run)));
  element(page, "footer", {}, "Made by leasecheck. ← and → go through the steps, Home and End to the first and the last.");
}
