// Check: a search that is watched, its verdict, and the way into what it found.

import { ask, h, plural, s, show, source, tree } from "./dom.js";

const fresh = () => ({ points: [], result: null, running: false, seconds: 0, step: null });
let job = fresh();
const kept = { symmetry: "auto", deadlock: true, invariant: true, goal: "", formula: "", order: "bfs" };
let turn = 0;

export function forget() {
  job = fresh();
  turn++;
}

export function draw(main, page) {
  show(main, h("div", { class: "columns two" },
    h("div", { class: "stack" }, controls(page), job.points.length || job.running ? progress() : null),
    h("div", { class: "stack" }, verdict(page), trace(page), text(page))));
}

async function start(page, question, about) {
  const mine = ++turn;
  job = { ...fresh(), running: true, question };
  page.refresh();
  try {
    await ask(question, about);
    // What is over soon is shown soon; after that the chart has to leave the cores to the search.
    for (let pause = 200; ; pause = 600) {
      const told = await ask("job", { from: 0 });
      if (mine !== turn) return;
      Object.assign(job, told);
      if (page.shown === "check") page.refresh();
      if (!told.running) break;
      await new Promise((done) => setTimeout(done, pause));
    }
  } catch (e) {
    if (mine !== turn) return;
    job.running = false;
    page.say(e.message, true);
    page.refresh();
  }
}

function controls(page) {
  // What a language that is not B does not have is not offered.
  const { language } = page.view, isNet = language === "PNML", isProcess = language === "CSP-M";
  const box = (key, label) => h("label", {}, h("input", { type: "checkbox", checked: kept[key], "data-key": key, onchange: (e) => { kept[key] = e.target.checked; } }), ` ${label}`);
  const choose = (key, label, all) => h("label", {}, `${label} `, h("select", { "data-key": key, onchange: (e) => { kept[key] = e.target.value; } },
    all.map((v) => h("option", { value: v, selected: kept[key] === v }, v))));
  const typed = (key, label, hint) => h("input", { type: "text", class: "code", "aria-label": label, placeholder: hint, value: kept[key], "data-key": key, oninput: (e) => { kept[key] = e.target.value; } });
  // What was chosen for another model, and is not offered here, is not asked for.
  const chosen = () => isProcess ? { ...kept, symmetry: "auto", goal: "" } : language && kept.symmetry === "markers" ? { ...kept, symmetry: "auto" } : { ...kept };
  const go = (question) => () => start(page, question, chosen());
  const can = { disabled: job.running };
  return h("section", { class: "card", "aria-label": "What to check" }, h("div", { class: "head" }, h("h2", {}, "What to check")),
    h("div", { class: "field" }, isProcess ? null : choose("symmetry", "Symmetry", ["auto", "off", "canon", "nauty", "flood", ...(language ? [] : ["markers"])]), choose("order", "Order", ["bfs", "dfs"])),
    h("div", { class: "field" }, isNet || isProcess ? null : box("invariant", "invariant"), box("deadlock", "deadlock")),
    isProcess ? null : h("div", { class: "field" }, typed("goal", "Goal", isNet ? "goal: a condition that is looked for" : "goal: a predicate that is looked for")),
    h("div", { class: "field" },
      h("button", { type: "button", class: "primary", id: "check", "data-key": "check", onclick: go("check"), ...can }, "Check"),
      h("button", { type: "button", id: "stop", "data-key": "stop", onclick: () => ask("stop"), disabled: !job.running }, "Stop"),
      isProcess ? null : h("button", { type: "button", id: "compare", "data-key": "compare", onclick: go("compare"), ...can, title: "All strategies, one after the other" }, "Compare")),
    h("form", { class: "field", onsubmit: (e) => { e.preventDefault(); start(page, "ltl", chosen()); } },
      typed("formula", "Temporal formula", language ? "temporal formula" : "temporal formula, or empty for the model's own"), h("button", { type: "submit", id: "ltl", "data-key": "ltl", ...can }, "LTL")));
}

const lasting = (t) => (t < 1 ? `${(t * 1000).toFixed(1)} ms` : `${t.toFixed(2)} s`);
const grouped = (n) => Math.round(n).toLocaleString("en");

function progress() {
  const last = job.points.at(-1) ?? [0, 0, 0, 0, 0, 0];
  const before = job.points.at(-6) ?? job.points[0] ?? last;
  const rate = last[0] > before[0] ? (last[1] - before[1]) / (last[0] - before[0]) : 0;
  const number = (name, value, curve) => h("div", {}, h("dt", {}, name), h("dd", {}, value), curve ? spark(name, curve) : null);
  const rates = job.points.map((p, i) => { const b = job.points[Math.max(0, i - 5)]; return p[0] > b[0] ? (p[1] - b[1]) / (p[0] - b[0]) : 0; });
  return h("section", { class: "card", "aria-label": "Progress" },
    h("div", { class: "head" }, h("h2", {}, "Progress"), h("span", { class: "soft small", id: "seconds", "data-seconds": job.seconds }, `${job.seconds.toFixed(1)} s`)),
    h("dl", { class: "numbers" }, number("states", grouped(last[1])), number("open", grouped(last[2])), number("states/s", grouped(rate), rates),
      number("depth", grouped(last[4]), job.points.map((p) => p[4])), number("memory", `${(last[5] / 1048576).toFixed(1)} MiB`, job.points.map((p) => p[5]))),
    chart());
}

/** A small curve. */
function spark(name, values) {
  const top = Math.max(1, ...values), end = Math.max(1, values.length - 1);
  return s("svg", { class: "spark", viewBox: "0 0 100 28", preserveAspectRatio: "none", role: "img", "aria-label": `${name} over time, at most ${grouped(top)}` },
    s("polyline", { class: "states", points: values.map((v, i) => `${((100 * i) / end).toFixed(1)},${(26 - (24 * v) / top).toFixed(1)}`).join(" ") }));
}

function chart() {
  const [w, height, left, low] = [520, 190, 58, 22];
  const end = Math.max(job.points.at(-1)?.[0] ?? 0, 0.1), top = Math.max(1, ...job.points.map((p) => p[1]));
  const x = (t) => left + (t / end) * (w - left - 8), y = (n) => height - low - (n / top) * (height - low - 12);
  const line = (at, name) => s("polyline", { class: name, points: job.points.map((p) => `${x(p[0]).toFixed(1)},${y(p[at]).toFixed(1)}`).join(" ") });
  return h("div", {}, s("svg", { class: "chart", viewBox: `0 0 ${w} ${height}`, role: "img", "aria-label": `States over time: ${grouped(top)} after ${end.toFixed(1)} seconds` },
    [0, 0.5, 1].map((f) => [s("line", { class: "axis", x1: left, x2: w - 8, y1: y(top * f), y2: y(top * f) }),
      s("text", { x: left - 8, y: y(top * f) + 4, "text-anchor": "end" }, grouped(top * f))]),
    s("text", { x: w - 8, y: height - 5, "text-anchor": "end" }, `${end.toFixed(1)} s`), line(1, "states"), line(2, "opens")),
    h("p", { class: "legend" }, h("span", {}, "— states"), h("span", {}, "- - open")));
}

const scopeText = (scope) => {
  if (!scope) return "";
  const sets = Object.entries(scope.sets ?? {}).map(([n, k]) => `card(${n}) = ${k}`);
  return [...sets, `MININT = ${scope.minint}`, `MAXINT = ${scope.maxint}`].join(", ");
};

function word(verdict) {
  return h("span", { class: `word ${verdict}`, id: "verdict" }, verdict);
}

function verdict(page) {
  const r = job.result;
  if (!r) return h("section", { class: "card", "aria-label": "Verdict" }, h("h2", {}, "Verdict"), h("p", { class: "soft" }, job.running ? "searching…" : "Nothing was checked yet."));
  if (r.compared) return compared(r.compared);
  if (r.formulas) return h("section", { class: "card", "aria-label": "Verdict" }, h("h2", {}, "Formulas"), r.formulas.map((f) => h("div", {},
    h("p", { class: "verdict" }, word(f.verdict), h("code", {}, f.formula ?? f.text ?? f.name)), f.reason ? h("p", {}, f.reason) : null, f.finding ? lasso(f.finding) : null)));
  const notes = (r.notes ?? []).map((n) => h("p", { class: "soft small" }, n));
  const errors = (r.errors ?? []).map((e) => h("div", { class: "problem" }, e.message));
  return h("section", { class: "card", "aria-label": "Verdict" }, h("h2", {}, "Verdict"),
    h("p", { class: "verdict" }, word(r.verdict), h("span", {}, r.reason ?? "")), errors,
    r.states !== undefined ? h("p", {}, `${plural(r.states, "state")}, ${plural(r.transitions, "transition")}`) : null,
    r.scope ? h("p", { class: "soft small", id: "scope" }, `Within ${scopeText(r.scope)}.`) : null, notes);
}

// A path, and the loop back into it. The last step of a loop leads to a state that is there already: an arc, no new node.
function lasso(f) {
  const stem = f.stem ?? [], loop = f.loop ?? [], all = [...stem, ...loop], last = all.length - 1;
  const same = (i) => JSON.stringify(all[i].state) === JSON.stringify(all[last].state);
  const back = loop.length ? all.findIndex((st, i) => i >= Math.max(0, stem.length - 1) && i < last && same(i)) : -1;
  const nodes = back >= 0 ? all.slice(0, -1) : all;
  // Names stand between nodes, the first one above the others.
  const gap = Math.max(112, ...all.map((st) => 24 + 7 * Math.min(40, (st.operation ?? "").length))), w = Math.max(1, nodes.length) * gap + 40;
  const x = (i) => 60 + i * gap, y = 50;
  const title = (st) => s("title", {}, Object.entries(st.state ?? {}).map(([n, v]) => `${n} = ${v}`).join("\n"));
  const arc = back < 0 ? null : back === nodes.length - 1
    ? `M${x(back) + 5},${y + 9}c26,42 -36,42 -11,2`
    : `M${x(nodes.length - 1)},${y + 10}C${x(nodes.length - 1)},${y + 62} ${x(back)},${y + 62} ${x(back)},${y + 13}`;
  return h("div", { class: "history", tabindex: 0, role: "region", "aria-label": "Path" }, s("svg", { width: w, height: 130, role: "img", "aria-label": `A path of ${nodes.length} states${loop.length ? " with a loop" : ""}`, class: "lasso" },
    s("defs", {}, s("marker", { id: "step", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, s("path", { class: "arrow", d: "M0,0L8,4L0,8z" }))),
    nodes.map((st, i) => [
      i ? s("line", { class: "edge strong", x1: x(i - 1) + 10, x2: x(i) - 12, y1: y, y2: y, "marker-end": "url(#step)" }) : null,
      s("text", { x: i ? (x(i - 1) + x(i)) / 2 : x(0), y: i ? y - 10 : y - 28, "text-anchor": "middle" }, st.operation ?? ""),
      s("circle", { class: `node${i >= back && back >= 0 ? " initial" : ""}`, cx: x(i), cy: y, r: 9 }, title(st)),
    ]),
    arc ? [s("path", { class: "edge strong", d: arc, "marker-end": "url(#step)" }), s("text", { x: (x(back) + x(nodes.length - 1)) / 2, y: y + (back === nodes.length - 1 ? 56 : 66), "text-anchor": "middle" }, all[last].operation ?? "")] : null),
    loop.length ? h("p", { class: "soft small" }, "The filled states are visited for ever.") : null);
}

function compared(c) {
  const runs = c.strategies ?? c.runs ?? [];
  const most = Math.max(1, ...runs.map((r) => r.states ?? 0)), slow = Math.max(0.001, ...runs.map((r) => r.seconds ?? 0));
  return h("section", { class: "card", "aria-label": "Verdict" }, h("h2", {}, "Strategies compared"),
    s("svg", { class: "chart", viewBox: `0 0 560 ${runs.length * 44 + 24}`, role: "img", "aria-label": "States and seconds of each strategy", id: "compared" },
      s("text", { x: 90, y: 12 }, "states"), s("text", { x: 340, y: 12 }, "time"),
      runs.map((r, i) => [
        s("text", { x: 80, y: 40 + i * 44, "text-anchor": "end" }, r.strategy ?? r.symmetry),
        s("rect", { class: "bar", x: 90, y: 26 + i * 44, height: 20, width: Math.max(1, (170 * (r.states ?? 0)) / most) }), s("text", { x: 96 + (170 * (r.states ?? 0)) / most, y: 40 + i * 44 }, grouped(r.states ?? 0)),
        s("rect", { class: "bar weak", x: 340, y: 26 + i * 44, height: 20, width: Math.max(1, (140 * (r.seconds ?? 0)) / slow) }), s("text", { x: 346 + (140 * (r.seconds ?? 0)) / slow, y: 40 + i * 44 }, lasting(r.seconds ?? 0)),
      ])),
    h("p", { class: "soft small" }, c.reason ?? c.agreement ?? ""));
}

// The way into what was found: each step is a state of the session.
function trace(page) {
  const f = job.result?.finding ?? job.result?.formulas?.find((x) => x.finding)?.finding;
  if (!f) return null;
  const steps = f.trace?.steps ?? [...(f.stem ?? []), ...(f.loop ?? [])];
  if (!steps.length) return null;
  const at = job.step ?? steps.length - 1;
  const go = (i) => async () => {
    job.step = i;
    await page.move("walk", { step: i });
  };
  const changes = (i) => Object.entries(steps[i].state ?? {}).filter(([n, v]) => i === 0 || steps[i - 1].state[n] !== v).map(([n, v]) => `${n} = ${v}`).join(", ");
  const call = (st) => { const p = Object.entries(st.parameters ?? {}); return p.length ? `${st.operation}(${p.map(([n, v]) => `${n} = ${v}`).join(", ")})` : st.operation; };
  return h("section", { class: "card", "aria-label": "Counterexample" },
    h("div", { class: "head" }, h("h2", {}, "How to get there"), h("div", { class: "tools" },
      h("button", { type: "button", "data-key": "before", disabled: at === 0, onclick: go(at - 1) }, "← Before"),
      h("button", { type: "button", "data-key": "after", disabled: at === steps.length - 1, onclick: go(at + 1) }, "After →"),
      h("button", { type: "button", "data-key": "to-animate", onclick: async () => { await page.move("walk", { step: at }); document.getElementById("to-animate").click(); } }, "Animate"))),
    h("ol", { class: "steps", id: "steps" }, steps.map((st, i) => h("li", {}, h("button", { type: "button", "data-key": `step-${i}`, "aria-current": i === at ? "true" : null, onclick: go(i) }, call(st), h("div", { class: "changes" }, changes(i)))))),
    f.why?.length ? [h("h2", {}, "Why"), h("div", { class: "why", id: "why" }, tree(nest(f.why), 9))] : null);
}

/** Parts with depths as a tree. */
function nest(parts) {
  const out = [];
  for (let i = 0; i < parts.length; ) {
    let end = i + 1;
    while (end < parts.length && (parts[end].depth ?? 0) > (parts[i].depth ?? 0)) end++;
    out.push({ kind: parts[i].kind ?? "value", text: parts[i].text ?? parts[i].expression ?? "", value: parts[i].value ?? "", below: nest(parts.slice(i + 1, end)) });
    i = end;
  }
  return out;
}

function text(page) {
  const errors = job.result?.errors ?? [];
  return h("section", { class: "card", "aria-label": "Source" }, h("div", { class: "head" }, h("h2", {}, "Source")),
    source(page.texts, job.result?.source ?? errors[0], errors));
}
