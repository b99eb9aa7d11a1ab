// Animate: the state, what can be done, what was done.

import { ask, download, h, pairs, plural, s, show, tree } from "./dom.js";

/** What is unfolded and typed stays so from one state to the next. */
const kept = { filter: "", disabled: true, whys: new Map(), nots: new Map(), picked: {}, seed: 1, steps: 10, asked: null };

export function draw(main, page) {
  const { view } = page;
  if (kept.pictured !== `${view.model} ${view.address}`) picture(page);
  const left = h("div", { class: "stack" }, operations(page));
  const middle = h("div", { class: "stack" }, pictureCard(page), state(page), conjuncts(page), questions(page));
  const right = h("div", { class: "stack" }, history(page), files(page));
  show(main, h("div", { class: "columns" }, left, middle, right));
  refill(page);
}

// Explanations belong to a state: in another one they are asked for again.
async function refill(page) {
  const address = page.view.address;
  for (const [check, box] of kept.whys) if (box.at !== address) {
    kept.whys.set(check, { at: address, why: (await ask("why", { check })).why });
    page.refresh();
    return;
  }
  for (const [name, box] of kept.nots) if (box.at !== address) {
    const o = page.view.operations.find((o) => o.name === name);
    if (!o || o.calls.length) kept.nots.delete(name);
    else kept.nots.set(name, { at: address, ways: (await ask("why-not", { operation: name })).ways });
    page.refresh();
    return;
  }
}

async function picture(page) {
  kept.pictured = `${page.view.model} ${page.view.address}`;
  try { kept.picture = (await ask("picture")).picture; }
  catch (e) { kept.picture = { problems: [e.message] }; }
  if (page.shown === "animate") page.refresh();
}

// A picture of the model. Elements and attributes are those that the program lets through.
function pictureCard(page) {
  const p = kept.picture;
  if (!p) return null;
  const clicks = new Set(p.clicks ?? []);
  // What changes under the pointer is as before when it leaves.
  const over = Map.groupBy ? Map.groupBy(p.hovers ?? [], (x) => x.over) : (p.hovers ?? []).reduce((m, x) => m.set(x.over, [...(m.get(x.over) ?? []), x]), new Map());
  const was = new Map();
  const target = (x) => document.getElementById(`visb-${x.id}`);
  const enter = (id) => () => over.get(id).forEach((x) => {
    const e = target(x), key = `${x.id} ${x.attribute}`;
    if (!e) return;
    if (!was.has(key)) was.set(key, e.getAttribute(x.attribute));
    e.setAttribute(x.attribute, name(x.enter));
  });
  const leave = (id) => () => over.get(id).forEach((x) => {
    const e = target(x), key = `${x.id} ${x.attribute}`, old = x.leave ?? was.get(key);
    if (!e) return;
    if (old === null || old === undefined) e.removeAttribute(x.attribute);
    else e.setAttribute(x.attribute, name(old));
  });
  const name = (v) => v.replace(/url\(\s*["']?#/g, (u) => `${u}visb-`);
  const drawn = (e, depth = 0) => {
    const can = e.id && clicks.has(e.id);
    const attributes = Object.fromEntries(e.attributes.map(([n, v]) => [n, name(v)]));
    if (depth === 0) { delete attributes.width; delete attributes.height; Object.assign(attributes, { class: "visb", role: "group", "aria-label": "Picture of the state" }); }
    if (e.id) attributes.id = `visb-${e.id}`;
    if (e.id && over.has(e.id)) Object.assign(attributes, { onpointerenter: enter(e.id), onpointerleave: leave(e.id), onfocus: enter(e.id), onblur: leave(e.id) });
    if (can) Object.assign(attributes, {
      class: "click", tabindex: 0, role: "button", "aria-label": e.id, "data-key": `visb-${e.id}`,
      onclick: () => page.move("click", { id: e.id }),
      onkeydown: (k) => { if (k.key === "Enter" || k.key === " ") { k.preventDefault(); page.move("click", { id: e.id }); } },
    });
    return s(e.tag, attributes, e.text || null, e.inside.map((i) => drawn(i, depth + 1)));
  };
  return h("section", { class: "card", "aria-label": "Picture" }, h("div", { class: "head" }, h("h2", {}, "Picture")),
    p.root ? drawn(p.root) : null, (p.problems ?? []).map((t) => h("p", { class: "problem small" }, t)));
}

function operations(page) {
  const { view } = page;
  const wanted = kept.filter.toLowerCase();
  const fits = (o) => o.name.toLowerCase().includes(wanted)
    || o.calls.some((c) => pairs(c.parameters).toLowerCase().includes(wanted));
  const all = view.operations.filter(fits);
  const on = all.filter((o) => o.calls.length), off = all.filter((o) => !o.calls.length);
  const filter = h("input", {
    type: "search", id: "filter", class: "code", placeholder: "Filter  /", "aria-label": "Filter operations", value: kept.filter,
    "data-key": "filter", oninput: (e) => { kept.filter = e.target.value; page.refresh(); },
  });
  return h("section", { class: "card", "aria-label": "Operations" },
    h("div", { class: "head" }, h("h2", {}, view.begun ? "Operations" : "Initial states"),
      h("div", { class: "tools" },
        h("button", { type: "button", "data-key": "undo", onclick: () => page.move("undo"), disabled: !view.begun, title: "Undo (u)" }, "↶ Undo"),
        h("button", { type: "button", "data-key": "redo", onclick: () => page.move("redo"), title: "Redo (r)" }, "↷ Redo"))),
    filter,
    h("ul", { class: "plain", id: "operations" }, on.map((o) => operation(page, o)), off.map((o) => operation(page, o))),
    on.length ? null : h("p", { class: "problem" }, view.begun ? "Nothing is enabled: this state is a deadlock." : "There is no initial state."),
    view.missing ? h("p", { class: "soft small" }, view.missing) : null);
}

function operation(page, o) {
  const fault = o.faults ? h("p", { class: "problem small" }, o.faults) : null;
  const name = h("span", { class: "name" }, o.name);
  if (!o.calls.length) {
    const open = kept.nots.get(o.name);
    const toggle = async () => {
      if (kept.nots.has(o.name)) kept.nots.delete(o.name);
      else kept.nots.set(o.name, { at: page.view.address, ways: (await ask("why-not", { operation: o.name })).ways });
      page.refresh();
    };
    return h("li", { class: "operation off" },
      h("div", { class: "line" }, name, page.view.language ? null : h("button", {
        type: "button", class: "quiet small", "data-key": `not-${o.name}`, "aria-expanded": Boolean(open), onclick: toggle,
      }, "why not?")), fault, open?.ways ? whyNot(page, o, open) : null);
  }
  const many = o.calls.length > 6 && o.parameters.length > 0;
  return h("li", { class: "operation" },
    h("div", { class: "line" }, name, o.calls.length > 1 ? h("span", { class: "tag" }, o.calls.length) : null),
    many ? pick(page, o) : h("div", { class: "calls" }, o.calls.map((c) => call(page, o, c))), fault);
}

function call(page, o, c) {
  const text = c.parameters.length ? pairs(c.parameters) : o.name === "INITIALISATION" ? pairs(c.changes) || "initialise" : "step";
  return h("button", {
    type: "button", class: "call", "data-key": `call-${o.name}-${text}`, "data-choice": c.choice,
    "aria-label": `${o.name} ${text}`, title: c.changes.length ? pairs(c.changes) : "changes nothing",
    onclick: () => page.move("step", { choice: c.choice }),
  }, text, c.results.length ? h("span", { class: "result" }, ` → ${pairs(c.results)}`) : null);
}

// Each parameter offers the values that go with those before it.
function pick(page, o) {
  const picked = (kept.picked[o.name] ??= {});
  let left = o.calls;
  const fields = o.parameters.map((name) => {
    const value = (c) => c.parameters.find(([n]) => n === name)?.[1] ?? "";
    const values = [...new Set(left.map(value))];
    if (!values.includes(picked[name])) picked[name] = values[0];
    left = left.filter((c) => value(c) === picked[name]);
    return h("label", {}, name, h("select", {
      class: "code", "data-key": `pick-${o.name}-${name}`, onchange: (e) => { picked[name] = e.target.value; page.refresh(); },
    }, values.map((v) => h("option", { value: v, selected: v === picked[name] }, v))));
  });
  return h("div", { class: "pick" }, fields, left.map((c, i) => h("button", {
    type: "button", class: "primary", "data-key": `take-${o.name}-${i}`, "data-choice": c.choice, title: pairs(c.changes),
    onclick: () => page.move("step", { choice: c.choice }),
  }, left.length > 1 ? `Take: ${pairs(c.results) || pairs(c.changes)}` : "Take")));
}

function whyNot(page, o, open) {
  const mark = { true: ["✓", "yes"], false: ["✗", "no"], none: ["?", "none"], open: ["·", "open"] };
  const one = (c) => h("div", { class: "conjunct" },
    h("div", { class: "line" },
      h("span", { class: `truth ${mark[c.truth][1]}`, role: "img", "aria-label": c.truth }, mark[c.truth][0]),
      h("code", { class: c.blocking ? "text blocking" : "text" }, c.text)),
    c.wanted.length ? h("div", { class: "why soft small" }, "holds for ", h("code", {}, c.wanted.map(pairs).join("; ") + (c.more ? "; …" : ""))) : null,
    c.why.length ? h("div", { class: "why" }, tree(c.why)) : null);
  const way = (w) => [w.summary ? h("p", { class: "summary" }, w.summary) : null, w.conditions.map(one)];
  const input = h("input", { type: "text", class: "code", placeholder: o.parameters.map((p) => `${p} = …`).join(", "), "aria-label": `Parameters of ${o.name}`, "data-key": `with-${o.name}` });
  const form = o.parameters.length ? h("form", {
    class: "field", onsubmit: async (e) => {
      e.preventDefault();
      try {
        const answer = await ask("why-not", { operation: o.name, arguments: split(input.value) });
        kept.nots.set(o.name, { at: page.view.address, ways: answer.ways });
        page.refresh();
      } catch (wrong) { page.say(wrong.message, true); }
    },
  }, h("span", { class: "soft small" }, "with"), input, h("button", { type: "submit" }, "Ask")) : null;
  return h("div", { class: "why", "data-not": o.name }, open.ways.length ? open.ways.map(way) : h("p", { class: "soft" }, "it is not enabled here"), form);
}

/** Arguments between commas that stand in no brackets. */
function split(text) {
  const parts = [""];
  let depth = 0;
  for (const c of text) {
    if ("([{".includes(c)) depth++;
    if (")]}".includes(c)) depth--;
    if (c === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += c;
  }
  return text.trim() ? parts : [];
}

function state(page) {
  const row = (v) => h("tr", { class: v.before !== null ? "changed" : v.constant ? "constant" : null },
    h("th", { scope: "row" }, v.name),
    h("td", { class: "value" }, h("span", { class: "now" }, v.value), v.before !== null ? h("span", { class: "old" }, v.before) : null));
  return h("section", { class: "card", "aria-label": "State" }, h("div", { class: "head" }, h("h2", {}, "State"), h("span", { class: "soft small" }, "changed values have the old one below")),
    page.view.begun ? h("table", { id: "state" }, h("tbody", {}, page.view.state.map(row))) : h("p", { class: "soft" }, "Choose an initial state."));
}

function conjuncts(page) {
  if (!page.view.conjuncts.length) return null;
  const one = (c) => {
    const [sign, word] = c.truth === true ? ["✓", "yes"] : c.truth === false ? ["✗", "no"] : ["?", "none"];
    const open = kept.whys.get(c.check);
    const toggle = async () => {
      if (open) kept.whys.delete(c.check);
      else kept.whys.set(c.check, { at: page.view.address, why: (await ask("why", { check: c.check })).why });
      page.refresh();
    };
    return h("li", { class: "conjunct", "data-truth": word },
      h("div", { class: "line" },
        h("span", { class: `truth ${c.role === "goal" && word === "no" ? "open" : word}`, role: "img", "aria-label": word === "yes" ? "true" : word === "no" ? "false" : "no value" }, sign),
        h("code", { class: "text" }, c.text), c.role !== "invariant" ? h("span", { class: "tag" }, c.role) : null,
        page.view.language ? null : h("button", { type: "button", class: "quiet small", "data-key": `why-${c.check}`, "aria-expanded": Boolean(open), onclick: toggle }, "why?")),
      c.error ? h("div", { class: "problem small" }, c.error) : null,
      open?.why ? h("div", { class: "why" }, open.why.length ? tree(open.why, 9) : h("span", { class: "soft" }, "there is nothing more to tell")) : null);
  };
  return h("section", { class: "card", "aria-label": "Invariant" }, h("div", { class: "head" }, h("h2", {}, "Invariant")),
    h("ul", { class: "plain", id: "conjuncts" }, page.view.conjuncts.map(one)));
}

export function answer(r) {
  if ("truth" in r) return r.truth ? "TRUE" : "FALSE";
  if ("value" in r) return r.value;
  if (!r.solutions.length) return r.truncated ? "none found, but not everything was tried" : "no solution";
  return r.solutions.map(pairs).join("\n") + (r.more ? "\n…" : "") + (r.truncated ? "\n(there may be others)" : "");
}

function questions(page) {
  // Only B has expressions that mean something in every state.
  if (page.view.language) return null;
  const input = h("input", { type: "text", class: "code", "aria-label": "Expression or predicate", placeholder: "expression or predicate", "data-key": "ask", value: kept.asked?.text ?? "" });
  const put = async (e) => {
    e.preventDefault();
    try { kept.asked = { text: input.value, answer: answer(await ask("ask", { text: input.value })) }; }
    catch (wrong) { kept.asked = { text: input.value, answer: wrong.message, bad: true }; }
    page.refresh();
  };
  const watched = page.view.watched.map((w, i) => h("tr", {}, h("th", { scope: "row" }, w.text),
    h("td", { class: "value" }, w.error ? h("span", { class: "soft" }, w.error) : answer(w.value)),
    h("td", {}, h("button", { type: "button", class: "quiet small", "aria-label": `Do not watch ${w.text}`, onclick: () => page.move("unwatch", { index: i }) }, "✕"))));
  return h("section", { class: "card", "aria-label": "Questions" }, h("div", { class: "head" }, h("h2", {}, "Ask and watch")),
    h("form", { class: "field", onsubmit: put }, input, h("button", { type: "submit", "data-key": "ask-button" }, "Ask"),
      h("button", { type: "button", "data-key": "watch", onclick: () => input.value.trim() && page.move("watch", { text: input.value }) }, "Watch"),
      h("button", { type: "button", "data-key": "seek", title: "Go to a nearest state that fulfils it", onclick: () => input.value.trim() && page.move("seek", { text: input.value }) }, "Go to")),
    kept.asked ? h("pre", { class: kept.asked.bad ? "code problem" : "code", id: "answer" }, kept.asked.answer) : null,
    watched.length ? h("table", { id: "watched" }, h("tbody", {}, watched)) : null);
}

function history(page) {
  const { at, way, places } = page.view.history;
  const known = new Map(places.map((p) => [p.place, { ...p, next: [] }]));
  const roots = [];
  for (const p of known.values()) (known.get(p.from)?.next ?? roots).push(p);
  const on = new Set(way);
  // One step after the other on one level; branches deeper.
  const run = (start) => {
    const items = [];
    for (let p = start; p; ) {
      const here = p;
      items.push(h("li", {}, h("button", {
        type: "button", class: on.has(p.place) ? "way" : "other", "data-key": `place-${p.place}`, "aria-current": p.place === at ? "true" : null,
        onclick: () => page.move("go", { place: here.place }),
      }, p.text)));
      const main = p.next.find((n) => on.has(n.place)) ?? p.next[0];
      const others = p.next.filter((n) => n !== main);
      if (others.length) items.push(h("li", {}, others.map((n) => h("ul", {}, run(n)))));
      p = main;
    }
    return items;
  };
  const seed = h("input", { type: "number", class: "short", value: kept.seed, "aria-label": "Seed", "data-key": "seed", onchange: (e) => { kept.seed = Number(e.target.value); } });
  const steps = h("input", { type: "number", class: "short", min: 1, max: 10000, value: kept.steps, "aria-label": "Random steps", "data-key": "steps", onchange: (e) => { kept.steps = Number(e.target.value); } });
  const box = h("section", { class: "card", "aria-label": "History" },
    h("div", { class: "head" }, h("h2", {}, "History"), h("span", { class: "soft small" }, plural(way.length, "state"))),
    h("div", { class: "history", id: "history", tabindex: 0, role: "region", "aria-label": "Steps so far" }, h("ul", {}, roots.map(run))),
    h("div", { class: "field small" }, steps, h("span", { class: "soft" }, "random, seed"), seed,
      h("button", { type: "button", "data-key": "random", onclick: () => page.move("random", { steps: Math.max(1, kept.steps | 0), seed: Math.abs(kept.seed | 0) }) }, "Go")));
  requestAnimationFrame(() => box.querySelector('[aria-current="true"]')?.scrollIntoView({ block: "nearest" }));
  return box;
}

function files(page) {
  const save = (format) => async () => {
    try { const f = await ask("save", { format }); download(f.name, f.text); } catch (e) { page.say(e.message, true); }
  };
  const load = h("input", {
    type: "file", accept: ".json,.prob2trace", "aria-label": "Load a trace", "data-key": "load",
    onchange: async (e) => { const file = e.target.files[0]; if (file) page.move("load", { text: await file.text() }); },
  });
  return h("section", { class: "card", "aria-label": "Traces" }, h("div", { class: "head" }, h("h2", {}, "Trace")),
    h("div", { class: "field" }, h("span", { class: "soft small" }, "Save as"), h("button", { type: "button", onclick: save("kanon") }, "JSON"),
      page.view.language ? null : [h("button", { type: "button", onclick: save("itf") }, "ITF"), h("button", { type: "button", onclick: save("prob") }, "ProB")]),
    h("div", { class: "field" }, h("span", { class: "soft small", "aria-hidden": "true" }, "Load"), load),
    h("p", { class: "soft small" }, "The address of this page leads to this state."));
}
