// Draws a run: lanes of agents from top to bottom, the program, the arenas' bytes, and a scrubber.
// Everything from the data reaches the page as text nodes or numbers, never as markup.
"use strict";

const ROW = 30, GUTTER = 46, HOLD = 22, CHAR = 7.25, SLOT = 9;
const NS = "http://www.w3.org/2000/svg";

function element(parent, tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  if (parent) parent.append(node);
  return node;
}

function shape(parent, tag, attributes, text) {
  const node = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

// Text in which `code` stands in backticks.
function prose(parent, text) {
  text.split("`").forEach((part, at) => { if (at % 2) element(parent, "code", {}, part); else parent.append(part); });
  return parent;
}

const cut = (text, width) => {
  const most = Math.max(4, Math.floor(width / CHAR));
  return text.length > most ? text.slice(0, most - 1) + "…" : text;
};

// Operations that were queued: where they begin, where they end, and in which lane.
function operations(run) {
  const last = run.rows.length, open = new Map(), all = [];
  run.rows.forEach(([agent, kind, queue, text], at) => {
    if (kind === 1) open.set(at + 1, { queue, text: run.texts[text], from: at + 1, to: 0, ran: [] });
  });
  run.rows.forEach(([agent, kind, , , , queued], at) => {
    const operation = open.get(queued);
    if (kind === 2 && operation) { operation.ran.push(at + 1); operation.to = at + 1; }
  });
  for (const operation of open.values()) all.push(operation);
  for (const left of run.left) {
    const operation = open.get(left[1]);
    if (operation) operation.to = last + 1e6;
  }
  const lanes = new Map();
  for (const operation of all) {
    if (operation.to === 0) operation.to = operation.from;
    const slots = lanes.get(operation.queue) || [];
    lanes.set(operation.queue, slots);
    let slot = slots.findIndex((free) => free <= operation.from);
    if (slot < 0) slot = slots.length < 6 ? slots.length : 5;
    slots[slot] = operation.to;
    operation.slot = slot;
  }
  return { all, byRow: open, slots: (agent) => (lanes.get(agent) || []).length };
}

// What could not happen before the run ended: queued operations, the next steps of threads, and guards that come late.
function ghosts(run) {
  const lanes = new Map(), all = [];
  const add = (agent, queued, text, note) => {
    const nth = lanes.get(agent) || 0;
    lanes.set(agent, nth + 1);
    if (nth < 12) all.push({ agent, queued, text, note, nth });
  };
  const isNext = (agent, queued, text) => run.next.some((next) => next[0] === agent && next[1] === queued && next[2] === text);
  for (const [agent, queued, text] of run.left) if (!isNext(agent, queued, text)) add(agent, queued, text, queued ? "queued" : "next");
  for (const late of run.missing ? run.missing.late : []) {
    const line = run.program.find((other) => other[1] === late);
    const agent = line ? run.agents.findIndex(([name]) => name === line[0]) : -1;
    if (agent >= 0) add(agent, 0, line[3], "late");
  }
  return { all, rows: Math.max(0, ...[...lanes.values()].map((nth) => Math.min(nth, 12))) };
}

function geometry(run) {
  const ops = operations(run), ghost = ghosts(run);
  const held = [...new Set(run.holds.map(([arena]) => arena))];
  const used = run.agents.map((_, agent) => agent).filter((agent) =>
    run.rows.some(([by, , queue]) => by === agent || queue === agent) || run.next.some(([by]) => by === agent) || ghost.all.some((one) => one.agent === agent));
  const wide = new Map(used.map((agent) => [agent, run.agents[agent][0].length + 8]));
  const need = (agent, length) => wide.set(agent, Math.max(wide.get(agent) || 0, length));
  for (const [agent, kind, queue, text] of run.rows) {
    const length = run.texts[text].length;
    if (kind === 1) { need(agent, 10 + run.agents[queue][0].length); need(queue, length + 1); } else need(agent, length + 1);
  }
  for (const [agent, , text] of run.next) need(agent, text.length + 1);
  for (const one of ghost.all) need(one.agent, one.text.length + (one.note === "queued" ? 2 : 12));
  const lanes = new Map();
  let x = GUTTER + held.length * HOLD + 8;
  for (const agent of used) {
    const marks = 14 + Math.max(0, ops.slots(agent) - 1) * SLOT;
    const width = Math.min(340, Math.max(120, marks + 10 + wide.get(agent) * CHAR));
    lanes.set(agent, { x, width, text: x + marks + 6, room: width - marks - 14 });
    x += width + 10;
  }
  const last = run.rows.length, width = Math.max(x, 620);
  const words = run.code ? `✗ ${run.code}: ${run.missing ? run.missing.sentence : run.message}`.replaceAll("`", "") : "";
  const banner = run.code ? wrap(words, Math.floor((width - GUTTER) / CHAR)).slice(0, 3) : [];
  // The rows of the two steps that can both come next stand behind the last step's.
  const rows = last + run.next.length, below = (rows + 0.5) * ROW + 12 + banner.length * 17;
  return {
    ops, ghost, held, used, lanes, width, last, rows, banner,
    height: below + (ghost.rows ? 34 + ghost.rows * ROW : 0) + 8,
    y: (step) => step * ROW - ROW / 2 + 6,
    bannerY: (line) => (rows + 0.5) * ROW + 18 + line * 17,
    ghostY: (nth) => below + 36 + nth * ROW,
    mark: (agent, slot) => lanes.get(agent).x + 8 + (slot || 0) * SLOT,
  };
}

// The point of a step, or of an end of the missing order.
function pointOf(run, plan, step) {
  const [agent, kind, queue, , , queued] = run.rows[step - 1];
  const lane = kind === 1 ? queue : agent;
  const op = kind === 1 ? plan.ops.byRow.get(step) : plan.ops.byRow.get(queued);
  return { x: plan.mark(lane, op ? op.slot : 0), y: plan.y(step), lane };
}

// The point of one of the two steps that can both come next.
function nextPoint(run, plan, nth) {
  const [agent, queued] = run.next[nth], op = plan.ops.byRow.get(queued);
  return { x: plan.mark(agent, op ? op.slot : 0), y: plan.y(plan.last + 1 + nth), lane: agent };
}

function endOf(run, plan, end) {
  if (end.ran) return pointOf(run, plan, end.ran);
  const next = run.next.findIndex(([agent, queued, text]) => agent === end.agent && queued === end.queued && text === end.text);
  if (next >= 0) return nextPoint(run, plan, next);
  const of = (one) => one.agent === end.agent && one.note !== "late";
  const ghost = plan.ghost.all.find((one) => of(one) && one.text === end.text && one.queued === end.queued) ||
    plan.ghost.all.find(of);
  if (!ghost) return null;
  const op = plan.ops.byRow.get(ghost.queued);
  return { x: plan.mark(ghost.agent, op ? op.slot : 0), y: plan.ghostY(ghost.nth), lane: ghost.agent };
}

function arrow(svg, from, to, style, label, title, both) {
  const bend = Math.max(24, Math.min(90, Math.abs(to.x - from.x) / 2));
  const side = to.x >= from.x ? 1 : -1, same = Math.abs(to.x - from.x) < 4;
  const path = same
    ? `M${from.x},${from.y} C${from.x - bend},${from.y} ${to.x - bend},${to.y} ${to.x - 7},${to.y}`
    : `M${from.x + side * 6},${from.y} C${from.x + side * bend},${from.y} ${to.x - side * bend},${to.y} ${to.x - side * 8},${to.y}`;
  const group = shape(svg, "g", { class: "arrow " + style });
  const heads = { "marker-end": `url(#head-${style})` };
  if (both) heads["marker-start"] = heads["marker-end"];
  shape(group, "path", { d: path, ...heads });
  if (title) shape(group, "title", {}, title);
  if (label) shape(group, "text", { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 - 4, "text-anchor": "middle" }, label);
}

function wrap(text, most) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines[lines.length - 1];
    if (line && line.length + word.length + 1 > most) lines.push(word); else lines[lines.length - 1] = line ? line + " " + word : word;
  }
  return lines;
}

// Draws the rows from `first` to `last` (and what crosses them); `now` is the step that is looked at.
function drawLanes(svg, run, plan, first, last, now) {
  svg.replaceChildren();
  const defs = shape(svg, "defs", {});
  for (const style of ["event", "order", "missing"]) {
    const marker = shape(defs, "marker", { id: "head-" + style, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto-start-reverse", class: "head " + style });
    shape(marker, "path", { d: "M0,0 L8,4 L0,8 z" });
  }
  const end = plan.last, top = plan.y(first) - ROW / 2, bottom = last > end ? plan.height : plan.y(last) + ROW / 2;
  const clampY = (step) => step > end ? plan.ghostY(0) - 10 : plan.y(step);
  for (const agent of plan.used) {
    const lane = plan.lanes.get(agent);
    shape(svg, "rect", { class: "lane", x: lane.x - 4, y: top, width: lane.width + 6, height: bottom - top });
  }
  for (const [arena, kind, name, agent, from, to] of run.holds) {
    const until = to || end;
    if (from > last || until < first) continue;
    const y = from ? plan.y(from) : plan.y(1) - ROW / 2, height = Math.max(ROW * 0.6, (to ? plan.y(to) : plan.y(end) + ROW / 2) - y);
    const lane = plan.lanes.get(agent);
    if (lane && kind === "lease") shape(svg, "rect", { class: "hold-lane lease", x: lane.x - 4, y, width: lane.width + 6, height });
    const x = GUTTER + plan.held.indexOf(arena) * HOLD, words = kind === "lease" ? "lease" : kind + " " + name;
    shape(svg, "rect", { class: "hold " + kind, x, y, width: HOLD - 4, height, rx: 3 });
    const label = shape(svg, "text", { class: "hold-text", transform: `translate(${x + 12},${y + height - 4}) rotate(-90)` }, height > 36 ? cut(words, height - 4) : "");
    shape(label, "title", {}, `${words} holds the layout of ${run.arenas[arena].name} from step ${from}` + (to ? ` to step ${to}` : " on"));
  }
  if (now >= first && now <= last && now > 0) shape(svg, "rect", { class: "now", x: 0, y: plan.y(now) - ROW / 2, width: plan.width, height: ROW });
  if (now === end && last > end && run.next.length) shape(svg, "rect", { class: "either", x: 0, y: plan.y(end + 1) - ROW / 2, width: plan.width, height: ROW * run.next.length });
  for (const op of plan.ops.all) {
    if (op.from > last || op.to < first || op.to === op.from) continue;
    const x = plan.mark(op.queue, op.slot), open = op.to > end;
    let to = clampY(op.to);
    if (open) {
      const ghost = plan.ghost.all.find((one) => one.queued === op.from), next = run.next.findIndex((one) => one[1] === op.from);
      if (next >= 0) to = plan.y(end + 1 + next); else if (ghost) to = plan.ghostY(ghost.nth);
    }
    shape(svg, "line", { class: open ? "span open" : "span", x1: x, x2: x, y1: plan.y(op.from), y2: to });
  }
  for (const [from, to, kind, name] of run.orders) {
    if (from > last || to < first || kind === "return" && to === from + 1) continue;
    const strong = kind === "event", words = kind === "return" ? "lets the thread go on" : `${kind} ${name}`;
    arrow(svg, pointOf(run, plan, from), pointOf(run, plan, to), strong ? "event" : "order", strong ? name : "", `step ${from} comes before step ${to}: ${words}`);
  }
  if (run.missing) {
    const from = endOf(run, plan, run.missing.before), to = endOf(run, plan, run.missing.after);
    if (from && to && Math.max(from.y, to.y) >= top && Math.min(from.y, to.y) <= bottom) arrow(svg, from, to, "missing", "", run.missing.sentence, run.missing.symmetric);
  }
  for (let step = Math.max(1, first); step <= Math.min(last, end); step++) {
    const [agent, kind, queue, text] = run.rows[step - 1], y = plan.y(step);
    const wrong = run.code && run.by_step && step === end;
    const group = shape(svg, "g", { class: "row" + (step > now ? " later" : "") + (wrong ? " wrong" : ""), "data-step": step });
    shape(group, "rect", { class: "hit", x: 0, y: y - ROW / 2, width: plan.width, height: ROW });
    shape(group, "text", { class: "number", x: GUTTER - 12, y: y + 4, "text-anchor": "end" }, step);
    const point = pointOf(run, plan, step), lane = plan.lanes.get(point.lane), words = run.texts[text];
    if (kind === 1) {
      const mine = plan.lanes.get(agent);
      shape(group, "text", { class: "dim", x: mine.text, y: y + 4 }, cut("enqueue on " + run.agents[queue][0], mine.room));
      shape(group, "circle", { class: "dot", cx: plan.mark(agent, 0), cy: y, r: 2.5 });
      shape(group, "line", { class: "send", x1: plan.mark(agent, 0), x2: point.x + (point.x > mine.x ? -6 : 6), y1: y + 10, y2: y + 10 });
      shape(group, "circle", { class: "queued", cx: point.x, cy: y, r: 4.5 });
      shape(group, "text", { class: "dim", x: lane.text, y: y + 4 }, cut(words, lane.room));
    } else {
      if (kind === 2) shape(group, "circle", { class: "ran", cx: point.x, cy: y, r: 5 });
      else shape(group, "rect", { class: "host", x: point.x - 4, y: y - 4, width: 8, height: 8 });
      shape(group, "text", { class: "what", x: lane.text, y: y + 4 }, cut(words, lane.room));
    }
    const notes = run.notes[step];
    shape(group, "title", {}, `step ${step}: ${run.agents[point.lane][0]}: ${words}` + (notes ? "\n" + notes.join("\n") : ""));
  }
  if (last <= end) return;
  run.next.forEach(([agent, queued, words], nth) => {
    const point = nextPoint(run, plan, nth), lane = plan.lanes.get(agent), queue = !["thread", "finally"].includes(run.agents[agent][1]);
    const group = shape(svg, "g", { class: "row wrong next" + (now < end ? " later" : "") });
    shape(group, "text", { class: "number", x: GUTTER - 12, y: point.y + 4, "text-anchor": "end" }, nth ? "or" : "next");
    if (queue) shape(group, "circle", { class: "open", cx: point.x, cy: point.y, r: 5 });
    else shape(group, "rect", { class: "open", x: point.x - 4, y: point.y - 4, width: 8, height: 8 });
    shape(group, "text", { class: "what", x: lane.text, y: point.y + 4 }, cut(words, lane.room));
    shape(group, "title", {}, `not taken yet; either can be next: ${run.agents[agent][0]}: ${words}`);
  });
  plan.banner.forEach((line, nth) => shape(svg, "text", { class: "sentence", x: GUTTER - 12, y: plan.bannerY(nth) }, line));
  if (plan.ghost.rows) shape(svg, "text", { class: "ghost-head", x: GUTTER - 12, y: plan.ghostY(0) - 20 }, run.code ? "not done yet when it happens:" : "not done yet:");
  for (const ghost of plan.ghost.all) {
    const lane = plan.lanes.get(ghost.agent), y = plan.ghostY(ghost.nth), op = plan.ops.byRow.get(ghost.queued);
    const x = plan.mark(ghost.agent, op ? op.slot : 0), words = { queued: "", next: "next: ", late: "too late: " }[ghost.note];
    const group = shape(svg, "g", { class: "ghost " + ghost.note });
    if (ghost.note === "queued") shape(group, "circle", { class: "queued", cx: x, cy: y, r: 4.5 });
    else shape(group, "rect", { class: "pending", x: x - 4, y: y - 4, width: 8, height: 8 });
    shape(group, "text", { class: "dim", x: lane.text, y: y + 4 }, cut(words + ghost.text, lane.room));
  }
}

// The state of every page after a step: arena, band, page.
function statesAt(run, step) {
  const states = run.arenas.map((arena) => arena.bands.map((band) => band.start.slice()));
  for (const at of Object.keys(run.changes)) {
    if (+at > step) continue;
    for (const [arena, band, page, state] of run.changes[at]) states[arena][band][page] = state;
  }
  return states;
}

const hue = (band, id) => Math.round((band * 97 + id * 137.508) % 360);
const WORDS = { "-1": "sink", "-2": "hole", "-3": "pending", "-4": "free" };

// Strips of bytes. Blocks keep their element while their page lives, so that a move is seen.
function strips(parent, run) {
  const arenas = run.arenas.map((arena) => {
    const box = element(parent, "figure", { class: "arena" });
    const head = element(box, "figcaption", {}, element(null, "strong", {}, "arena " + arena.name), ` ${arena.bytes} bytes: `);
    arena.bands.forEach((band, at) => head.append(element(null, "span", { class: "band b" + at },
      `${band.name} (pages of ${band.envelope} bytes, ${{ up: "from the left", down: "from the right" }[band.grow] || "between the others"})`), at + 1 < arena.bands.length ? ", " : ""));
    const marks = element(box, "div", { class: "touches" });
    const strip = element(box, "div", { class: "strip", role: "img" });
    const axis = element(box, "div", { class: "axis" });
    for (let tick = 0; tick <= 4; tick++) element(axis, "span", { style: `left:${tick * 25}%` }, String(Math.round(arena.bytes * tick / 4)));
    return { arena, marks, strip, blocks: new Map() };
  });
  const place = (node, low, high, bytes) => {
    node.style.left = `${100 * low / bytes}%`;
    node.style.width = `${100 * (high - low) / bytes}%`;
  };
  return (step) => {
    const states = statesAt(run, step), wrong = run.code && step === run.rows.length;
    arenas.forEach(({ arena, marks, strip, blocks }, at) => {
      const seen = new Set(), words = [];
      arena.bands.forEach((band, number) => states[at][number].forEach((state, page) => {
        if (state === -4) return;
        const key = state >= 0 ? `${number}.${state}` : `${number}:${page}`;
        let block = blocks.get(key);
        if (!block) {
          block = element(strip, "div", {});
          blocks.set(key, block);
        }
        seen.add(key);
        const name = state >= 0 ? `${band.name} ${state}` : WORDS[state];
        block.className = "page b" + number + (state < 0 ? " " + WORDS[state] : "");
        block.textContent = name;
        block.title = `page ${name} of ${band.name}: physical page ${page}, bytes ${page * band.envelope} to ${(page + 1) * band.envelope}`;
        block.style.setProperty("--hue", hue(number, Math.max(0, state)));
        block.dataset.page = page;
        place(block, page * band.envelope, (page + 1) * band.envelope, arena.bytes);
        if (state >= 0) words.push(`${band.name} ${state} at physical page ${page}`);
      }));
      for (const [key, block] of blocks) if (!seen.has(key)) { block.remove(); blocks.delete(key); }
      strip.setAttribute("aria-label", `arena ${arena.name}: ` + (words.join(", ") || "nothing in it"));
      marks.replaceChildren();
      const mark = (low, high, style, text) => place(element(marks, "span", { class: "touch " + style }, text), low, high, arena.bytes);
      for (const [where, band, id, from, to] of run.moves[step] || []) if (where === at) {
        const size = arena.bands[band].envelope;
        mark(from * size, (from + 1) * size, "moved", `${arena.bands[band].name} ${id} ${to < from ? "←" : "→"}`);
      }
      for (const [where, , , low, high, write] of run.touched[step] || []) if (where === at) mark(low, high, write ? "write" : "read", write ? "write" : "read");
      const ends = (wrong && run.missing ? [run.missing.before, run.missing.after] : []).filter((end) => end.bytes && end.bytes[0] === at);
      const [one, other] = ends, name = (end) => run.agents[end.agent][0];
      if (other && one.bytes[1] === other.bytes[1]) mark(one.bytes[1], Math.max(one.bytes[2], other.bytes[2]), "wrong", `${name(one)} and ${name(other)}`);
      else for (const end of ends) mark(end.bytes[1], end.bytes[2], "wrong", name(end));
    });
  };
}

function listing(parent, run) {
  const lines = [];
  let thread = null, list = null;
  for (const [name, line, depth, text, means] of run.program) {
    if (name !== thread) {
      element(parent, "h3", {}, name === "setup" ? "set-up, before the run" : name);
      list = element(parent, "ol", { class: "program" });
      thread = name;
    }
    const node = element(list, "li", { value: line, style: `--depth:${depth}`, title: means >= 0 ? terms.steps[means][1] : null }, element(null, "code", {}, text));
    if (run.missing && run.missing.late.includes(line)) { node.classList.add("late"); node.append(element(null, "em", {}, "too late")); }
    lines.push([line, node]);
  }
  return (step) => {
    const line = step ? run.rows[step - 1][4] : -1, ended = run.code && step === run.rows.length;
    const wrong = !ended ? [] : run.by_step ? [line] : run.next.map((next) => next[3]);
    for (const [number, node] of lines) {
      node.classList.toggle("now", number === line);
      node.classList.toggle("wrong", wrong.includes(number));
      if (number === line && parent.scrollHeight > parent.clientHeight) parent.scrollTop = node.offsetTop - parent.clientHeight / 2;
    }
  };
}

const LEGEND = [
  ["", "Time goes down, a row for each step:"],
  ["host", "a host thread's step, done at once"], ["queued", "enqueued on a stream (or RDMA agent)"], ["ran", "executed by the stream"],
  ["span", "enqueued, not yet executed"], ["event", "event: record → wait"], ["missing", "an order that is missing"],
  ["lease", "layout lease held: pages must not move"], ["handed", "lease handed off to an event"], ["gate", "move gate closed"],
];

function legend(parent) {
  const list = element(parent, "ul", { class: "legend", "aria-label": "legend" });
  for (const [style, words] of LEGEND) element(list, "li", {}, style ? element(null, "i", { class: "key " + style }) : "", words);
}

// The whole picture; returns how to go to a step and which one is shown.
function picture(parent, run, begin, moved) {
  const plan = geometry(run), last = run.rows.length;
  const controls = element(parent, "div", { class: "controls" });
  const button = (text, label, to) => element(controls, "button", { type: "button", "aria-label": label, title: label, onclick: () => go(to()) }, text);
  button("|◀", "to the start (Home)", () => 0);
  button("◀", "one step back (←)", () => now - 1);
  const range = element(controls, "input", { type: "range", min: 0, max: last, value: last, "aria-label": "step", oninput: () => go(+range.value) });
  button("▶", "one step on (→)", () => now + 1);
  button("▶|", "to the end (End)", () => last);
  const where = element(controls, "output", { class: "where" });
  const says = element(parent, "p", { class: "says", "aria-live": "polite" });
  legend(parent);
  const columns = element(parent, "div", { class: "columns" });
  const box = element(columns, "div", { class: "lanes", tabindex: 0, role: "group", "aria-label": "lanes of the run" });
  const head = element(box, "div", { class: "heads", style: `width:${plan.width}px` });
  plan.held.forEach((arena, at) => element(head, "span", { class: "held", style: `left:${GUTTER + at * HOLD}px`, title: run.arenas[arena].name }, run.arenas[arena].name));
  for (const agent of plan.used) {
    const lane = plan.lanes.get(agent), [name, kind] = run.agents[agent];
    element(head, "span", { class: "head", style: `left:${lane.x}px;width:${lane.width}px` }, element(null, "b", {}, name), " ", element(null, "small", {}, { thread: "host thread", stream: "stream", rdma: "RDMA agent", finally: "at the end" }[kind]));
  }
  const canvas = element(box, "div", { class: "canvas", style: `width:${plan.width}px;height:${plan.height}px` });
  const svg = shape(canvas, "svg", { width: plan.width, role: "img" });
  svg.setAttribute("aria-label", "one row for each step");
  const side = element(columns, "aside", { class: "side", tabindex: 0, "aria-label": "program" });
  const showLine = listing(side, run);
  const showArenas = strips(element(parent, "div", { class: "arenas" }), run);
  let now = -1, drawn = "", everything = false;

  function draw() {
    const above = 12, first = everything ? 1 : Math.max(1, Math.floor(box.scrollTop / ROW) - above);
    const until = everything ? last + 1 : Math.ceil((box.scrollTop + box.clientHeight) / ROW) + above;
    const window = `${first} ${until} ${now}`;
    if (window === drawn) return;
    drawn = window;
    const top = plan.y(first) - ROW / 2, bottom = until > last ? plan.height : plan.y(until) + ROW / 2;
    svg.setAttribute("viewBox", `0 ${top} ${plan.width} ${bottom - top}`);
    svg.setAttribute("height", bottom - top);
    svg.style.top = `${top}px`;
    drawLanes(svg, run, plan, first, until, now);
  }

  function go(step) {
    step = Math.max(0, Math.min(last, step));
    if (step === now) return;
    now = step;
    range.value = step;
    where.textContent = `step ${step} of ${last}`;
    const y = step ? plan.y(step) : 0, bottom = step === last ? plan.height : y + ROW;
    if (y - ROW < box.scrollTop) box.scrollTop = y - ROW * 2;
    if (bottom > box.scrollTop + box.clientHeight - 40) box.scrollTop = Math.min(y - ROW, bottom - box.clientHeight + 60);
    const row = step ? run.rows[step - 1] : null;
    const wrong = run.code && step === last;
    says.className = "says" + (wrong ? " wrong" : "");
    says.replaceChildren();
    prose(says, wrong ? `${run.by_step ? "Step" : "After step"} ${step}. ${run.code}: ${run.message}.` : !row ? "The start." :
      `Step ${step}. ${run.agents[row[0]][0]} ${row[1] === 1 ? `enqueues on ${run.agents[row[2]][0]}` : row[1] === 2 ? "executes" : "does"}: ${run.texts[row[3]]}` +
      ((run.notes[step] || []).length ? ` (${run.notes[step].slice(0, 4).join("; ")})` : ""));
    const line = row && run.program.find((other) => other[1] === row[4]);
    if (line && line[4] >= 0) prose(element(says, "span", { class: "means" }), `Meaning: ${terms.steps[line[4]][1]}.`);
    showLine(step);
    showArenas(step);
    draw();
    if (moved) moved(step);
  }

  box.addEventListener("scroll", draw, { passive: true });
  new ResizeObserver(draw).observe(box);
  svg.addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (row) go(+row.dataset.step);
  });
  addEventListener("beforeprint", () => { everything = last <= 400; draw(); });
  addEventListener("afterprint", () => { everything = false; draw(); });
  go(begin === undefined ? last : begin);
  return { go, now: () => now, last };
}

// Arrow keys, Home and End go through the steps of what `shown()` returns.
function keys(shown) {
  addEventListener("keydown", (event) => {
    const picture = shown();
    if (!picture || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = event.target;
    if (at.closest && at.closest("input:not([type=range]),select,textarea")) return;
    const to = { ArrowLeft: picture.now() - 1, ArrowRight: picture.now() + 1, Home: 0, End: picture.last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    picture.go(to);
  });
}
