// A page of cases: what is claimed, what was found, and the picture of the run.
"use strict";

function parts(parent, title, all) {
  const off = all.filter((part) => !part.on);
  const box = element(parent, "details", { open: off.length > 0 });
  element(box, "summary", {}, `${title}: ${off.length ? off.length + " off, " : ""}${all.length - off.length} in force`);
  const list = element(box, "dl", { class: "parts" });
  for (const part of [...off, ...all.filter((part) => part.on)]) {
    element(list, "dt", { class: part.on ? "" : "off" }, part.on ? part.name : `OFF: ${part.name}`);
    element(list, "dd", {}, part.doc);
  }
}

function reason(parent, run) {
  const box = element(parent, "section", { class: run.code ? "reason wrong" : "reason", "aria-label": "what went wrong" });
  if (!run.code) {
    element(box, "p", {}, "Nothing is violated in this run.");
    return;
  }
  prose(element(box, "p", { class: "message" }), run.message.replace(/^./, (c) => c.toUpperCase()) + ".");
  const list = element(box, "ul", {});
  if (run.missing) prose(element(list, "li", { class: "missing" }), run.missing.sentence);
  for (const sentence of run.because) prose(element(list, "li", {}), sentence);
  element(box, "p", { class: "rule" }, "What must hold (", element(null, "code", {}, run.code), `): ${run.doc}.`);
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

// One case; returns its picture, if it has a run.
function showCase(parent, one) {
  parent.replaceChildren();
  const head = element(parent, "header", {});
  element(head, "p", { class: "name" }, one.claim, " / ", element(null, "b", {}, one.case));
  element(head, "h1", {}, one.statement || one.claim);
  const good = one.standing === "as claimed";
  if (one.verdict) {
    const bad = Boolean(one.run && one.run.code);
    element(head, "p", { class: "verdict" }, element(null, "span", { class: "pill " + (bad ? "bad" : good ? "good" : "unknown") }, one.result),
      ` ${one.size}. `, element(null, "span", { class: "claimed" }, good ? "This is what the case claims." : `The case claims ${one.expected}, but ${one.why}.`));
  }
  let shown = null;
  if (one.run) {
    reason(parent, one.run);
    shown = picture(element(parent, "section", { class: "stage", "aria-label": "the run" }), one.run);
    replay(parent, one.run.replay);
  }
  const more = element(parent, "section", { class: "more" });
  parts(more, "Rules of the design", one.rules);
  parts(more, "Assumptions", one.assumptions);
  element(more, "p", { class: "origin" }, `From ${one.file}; the claim comes from ${one.source}.`);
  return shown;
}

if (document.body.dataset.page === "cases") {
  const cases = JSON.parse(document.getElementById("data").textContent), page = document.getElementById("page");
  let shown = null;
  const chooser = cases.length > 1 ? element(page, "nav", { "aria-label": "cases" }) : null;
  const body = element(page, "div", {});
  const buttons = [];
  const choose = (at) => {
    buttons.forEach((button, other) => button.setAttribute("aria-pressed", other === at));
    shown = showCase(body, cases[at]);
  };
  cases.forEach((one, at) => {
    if (!chooser) return;
    const button = element(chooser, "button", { type: "button", onclick: () => choose(at) },
      element(null, "span", { class: "pill " + (one.run && one.run.code ? "bad" : one.standing === "as claimed" ? "good" : "unknown") }, one.result), " ",
      cases.every((other) => other.claim === cases[0].claim) ? one.case : `${one.claim} / ${one.case}`);
    buttons.push(button);
  });
  keys(() => shown);
  choose(Math.max(0, cases.findIndex((one) => one.run)));
  element(page, "footer", {}, "Made by leasecheck. ← and → go through the steps, Home and End to the first and the last.");
}
