// See: the state graph, the orbit of the present state, its relations as graphs.

import { ask, h, pairs, plural, s, show } from "./dom.js";

let graph = null, orbit = null, relations = null, shownAt = null;
const kept = { states: 200, projection: "", zoom: null };
/** Where nodes are, by their texts: they stay there when the graph grows. */
let places = new Map();

export function forget() {
  graph = orbit = relations = shownAt = null;
  places = new Map();
  kept.zoom = null;
  kept.projection = "";
}

export function enter(page) {
  if (!graph || shownAt !== page.view.address) load(page);
}

async function load(page) {
  shownAt = page.view.address;
  try {
    graph = await ask("graph", { states: kept.states, projection: kept.projection });
    relations = (await ask("relations")).relations;
    orbit = page.view.language ? null : await ask("orbit");
  } catch (e) { page.say(e.message, true); }
  if (page.shown === "see") page.refresh();
}

export function draw(main, page) {
  if (shownAt !== page.view.address) enter(page);
  show(main, h("div", { class: "stack" }, drawn(page), h("div", { class: "grid" }, orbitCard(), ...relationCards())));
}

// Layers by distance; a node goes to the free place nearest to the one it was reached from. That depends only on the nodes
// before it, so that a node never moves when others come.
function layout(g) {
  const depth = new Array(g.nodes.length).fill(-1), from = new Array(g.nodes.length).fill(-1);
  g.nodes.forEach((n, i) => { if (n.initial) depth[i] = 0; });
  for (const [a, b] of g.edges) if (depth[b] < 0 && depth[a] >= 0) { depth[b] = depth[a] + 1; from[b] = a; }
  const taken = new Map(), xs = new Array(g.nodes.length).fill(0);
  const wide = 96, high = 84;
  g.nodes.forEach((n, i) => {
    const d = Math.max(0, depth[i]);
    const known = places.get(n.text);
    const row = taken.get(d) ?? taken.set(d, new Set()).get(d);
    let slot = known?.d === d ? known.slot : from[i] >= 0 ? xs[from[i]] : 0;
    if (known?.d !== d) for (let k = 1; row.has(slot); k++) slot += (k % 2 ? 1 : -1) * k;
    row.add(slot);
    xs[i] = slot;
    places.set(n.text, { d, slot });
  });
  return g.nodes.map((n, i) => ({ x: xs[i] * wide + (Math.max(0, depth[i]) % 2) * 22, y: Math.max(0, depth[i]) * high }));
}

function drawn(page) {
  const g = graph;
  const amount = h("select", { "aria-label": "States drawn", "data-key": "amount", onchange: (e) => { kept.states = Number(e.target.value); kept.zoom = null; load(page); } },
    [50, 200, 500, 2000, 5000].map((n) => h("option", { value: n, selected: n === kept.states }, `up to ${n}`)));
  const input = h("input", { type: "text", class: "code", "aria-label": "Projection", placeholder: "project on an expression, such as card(x)", value: kept.projection, "data-key": "projection", oninput: (e) => { kept.projection = e.target.value; } });
  const form = h("form", { class: "field", onsubmit: (e) => { e.preventDefault(); kept.projection = input.value; places = new Map(); kept.zoom = null; load(page); } }, amount, page.view.language ? null : input, h("button", { type: "submit", "data-key": "draw" }, "Draw"));
  const svg = g ? picture(g, page) : h("p", { class: "soft" }, "drawing…");
  const zoom = (f) => () => { if (!kept.zoom) return; const [x, y, w, k] = kept.zoom; kept.zoom = [x + (w * (1 - f)) / 2, y + (k * (1 - f)) / 2, w * f, k * f]; svg.setAttribute("viewBox", kept.zoom.join(" ")); };
  return h("section", { class: "card", "aria-label": "State graph" },
    h("div", { class: "head" }, h("h2", {}, "State graph"), h("div", { class: "tools" },
      h("button", { type: "button", "aria-label": "Nearer", onclick: zoom(0.75) }, "+"), h("button", { type: "button", "aria-label": "Farther", onclick: zoom(1.34) }, "−"),
      h("button", { type: "button", onclick: () => { kept.zoom = null; page.refresh(); } }, "Fit"))),
    form,
    g ? h("p", { class: "legend", id: "drawn" }, h("span", {}, `${plural(g.nodes.length, "node")} for ${plural(g.states, "state")}${g.more ? ", and there are more" : ", all there are"}`),
      h("span", {}, h("i", { class: "dot here" }), "here"), h("span", {}, h("i", { class: "dot initial" }), "initial"), h("span", {}, h("i", { class: "dot broken" }), "invariant broken"), h("span", {}, h("i", { class: "dot deadlock" }), "deadlock"), h("span", {}, "point at a node for its state, click to go there")) : null,
    svg);
}

function picture(g, page) {
  const go = (i) => page.move("node", { node: i, states: kept.states, projection: kept.projection });
  const at = layout(g), small = g.nodes.length <= 60, r = small ? 11 : 7;
  const min = (k) => Math.min(0, ...at.map((p) => p[k])) - 60, max = (k) => Math.max(0, ...at.map((p) => p[k])) + 60;
  if (!kept.zoom) kept.zoom = [min("x"), min("y"), max("x") - min("x"), max("y") - min("y")];
  const line = ([a, b]) => {
    const p = at[a], q = at[b];
    if (a === b) return `M${p.x - 4},${p.y - r} c-16,-26 24,-26 8,0`;
    const dx = q.x - p.x, dy = q.y - p.y, len = Math.hypot(dx, dy) || 1, ux = dx / len, uy = dy / len;
    const bend = q.y <= p.y ? 0.22 : 0.04;
    const [x1, y1, x2, y2] = [p.x + ux * r, p.y + uy * r, q.x - ux * (r + 2), q.y - uy * (r + 2)];
    return `M${x1.toFixed(1)},${y1.toFixed(1)}Q${((x1 + x2) / 2 - dy * bend).toFixed(1)},${((y1 + y2) / 2 + dx * bend).toFixed(1)} ${x2.toFixed(1)},${y2.toFixed(1)}`;
  };
  const kind = (n) => ["node", n.initial && "initial", n.broken && "broken", n.deadlock && "deadlock", n.open && "open", n.here && "here"].filter(Boolean).join(" ");
  const svg = s("svg", { class: "drawing", id: "graph", viewBox: kept.zoom.join(" "), role: small ? "group" : "img", "aria-label": `State graph with ${g.nodes.length} nodes` },
    s("defs", {}, s("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 6, markerHeight: 6, orient: "auto" }, s("path", { class: "arrow", d: "M0,0L8,4L0,8z" }))),
    small ? g.edges.map((e) => s("path", { class: "edge few", d: line(e), "marker-end": "url(#arrow)" }, s("title", {}, e[2].join(", ")))) : s("path", { class: "edge", d: g.edges.map(line).join("") }),
    g.nodes.map((n, i) => s("circle", {
      class: kind(n), "data-node": i, cx: at[i].x, cy: at[i].y, r: Math.min(24, r + 2 * Math.log2(n.states || 1)),
      ...(small ? { tabindex: 0, role: "button", "data-key": `node-${i}`, "aria-label": `Go to ${n.text.replaceAll("\n", ", ")}`, onkeydown: (k) => { if (k.key === "Enter" || k.key === " ") { k.preventDefault(); go(i); } } } : {}),
    }, s("title", {}, n.text + (n.states > 1 ? `\n${n.states} states` : "")))),
    small ? g.nodes.map((n, i) => n.text.length <= 18 ? s("text", { class: "name", x: at[i].x, y: at[i].y + r + 13, "text-anchor": "middle" }, n.text) : null) : null);
  let drag = null;
  svg.addEventListener("pointerdown", (e) => { drag = [e.clientX, e.clientY, ...kept.zoom]; });
  svg.addEventListener("pointermove", (e) => { if (!drag) return; if (Math.hypot(e.clientX - drag[0], e.clientY - drag[1]) > 4 && !svg.hasPointerCapture(e.pointerId)) svg.setPointerCapture(e.pointerId); const k = kept.zoom[2] / svg.clientWidth; kept.zoom = [drag[2] - (e.clientX - drag[0]) * k, drag[3] - (e.clientY - drag[1]) * k, drag[4], drag[5]]; svg.setAttribute("viewBox", kept.zoom.join(" ")); });
  // A pointer that did not move was a click: on a node it goes there.
  svg.addEventListener("pointerup", (e) => {
    const still = drag && Math.hypot(e.clientX - drag[0], e.clientY - drag[1]) <= 4, node = e.target.dataset?.node;
    drag = null;
    if (still && node !== undefined) go(Number(node));
  });
  svg.addEventListener("wheel", (e) => {
    e.preventDefault();
    const f = e.deltaY > 0 ? 1.15 : 1 / 1.15, box = svg.getBoundingClientRect(), [x, y, w, k] = kept.zoom;
    const px = (e.clientX - box.left) / box.width, py = (e.clientY - box.top) / box.height;
    kept.zoom = [x + w * px * (1 - f), y + k * py * (1 - f), w * f, k * f];
    svg.setAttribute("viewBox", kept.zoom.join(" "));
  }, { passive: false });
  return svg;
}

function orbitCard() {
  if (!orbit) return null;
  const moved = orbit.permutation.map(([set, images]) => permutation(set, images));
  const states = orbit.states.map((st) => h("li", { class: "code" }, pairs(st)));
  return h("section", { class: "card", "aria-label": "Orbit", id: "orbit" }, h("div", { class: "head" }, h("h2", {}, "Orbit of this state"), h("span", { class: "tag" }, plural(orbit.states.length, "state") + (orbit.more ? " and more" : ""))),
    h("p", {}, orbit.is_representative ? "This state stands for its orbit." : "Of these states, one is explored:"),
    orbit.is_representative ? null : h("p", { class: "code" }, pairs(orbit.representative)),
    orbit.permutation.length && !orbit.is_representative ? [h("p", { class: "soft small" }, "The permutation that takes this state to it:"), moved] : null,
    orbit.permutation.length ? null : h("p", { class: "soft small" }, "Nothing is permuted in this model."),
    orbit.fixed.map(([set, why]) => h("p", { class: "soft small" }, `${set} is not permuted, or only in part: ${why}`)),
    h("details", { open: states.length <= 12 }, h("summary", {}, "All states of the orbit"), h("ul", {}, states)));
}

// The elements twice, and an arrow from each to what it becomes.
function permutation(set, images) {
  const names = images.map(([a]) => a), y = (i) => 18 + i * 26, height = names.length * 26 + 8;
  return h("div", {}, h("h3", {}, set), s("svg", { class: "chart permutation", viewBox: `0 0 320 ${height}`, role: "img", "aria-label": images.map(([a, b]) => `${a} becomes ${b}`).join(", ") },
    images.map(([, b], i) => s("path", { class: names[i] === b ? "edge" : "edge strong", d: `M112,${y(i) - 4}C165,${y(i) - 4} 155,${y(names.indexOf(b)) - 4} 206,${y(names.indexOf(b)) - 4}`, "marker-end": "url(#becomes)" })),
    s("defs", {}, s("marker", { id: "becomes", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, s("path", { class: "arrow", d: "M0,0L8,4L0,8z" }))),
    names.map((n, i) => [s("text", { class: "name", x: 104, y: y(i), "text-anchor": "end" }, n), s("text", { class: "name", x: 214, y: y(i) }, n)])));
}

function relationCards() {
  return (relations ?? []).map(({ name, pairs: all, same }) => {
    const told = `${name}: ${all.map(([a, b]) => `${a} to ${b}`).join(", ") || "empty"}`;
    const drawn = !all.length ? h("p", { class: "soft" }, "empty") : same ? wheel(all, told) : sides(all, told);
    return h("section", { class: "card", "aria-label": `Relation ${name}`, "data-relation": name }, h("div", { class: "head" }, h("h2", {}, name)), drawn);
  });
}

/** A relation between two kinds of things: one on each side. */
function sides(all, told) {
  const lefts = [...new Set(all.map(([a]) => a))], rights = [...new Set(all.map(([, b]) => b))];
  const height = Math.max(lefts.length, rights.length, 1) * 30 + 20;
  const y = (list, v) => 24 + list.indexOf(v) * 30;
  return s("svg", { class: "chart relation", viewBox: `0 0 320 ${height}`, role: "img", "aria-label": told },
    all.map(([a, b]) => s("path", { class: "edge strong", d: `M112,${y(lefts, a) - 4}C160,${y(lefts, a) - 4} 160,${y(rights, b) - 4} 208,${y(rights, b) - 4}` })),
    lefts.map((v) => s("text", { class: "name", x: 104, y: y(lefts, v), "text-anchor": "end" }, v)), rights.map((v) => s("text", { class: "name", x: 216, y: y(rights, v) }, v)));
}

/** A relation between things of one kind: a graph, its nodes on a circle. */
function wheel(all, told) {
  const names = [...new Set(all.flat())].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const size = Math.max(70, names.length * 13), c = size + 44;
  const at = new Map(names.map((n, i) => { const t = (2 * Math.PI * i) / names.length - Math.PI / 2; return [n, { x: c + size * Math.cos(t), y: c + size * Math.sin(t) }]; }));
  const line = ([a, b]) => {
    const p = at.get(a), q = at.get(b), r = 8;
    if (a === b) { const dx = (p.x - c) / size, dy = (p.y - c) / size; return `M${p.x - dy * 6},${p.y + dx * 6}C${p.x + dx * 34 - dy * 20},${p.y + dy * 34 + dx * 20} ${p.x + dx * 34 + dy * 20},${p.y + dy * 34 - dx * 20} ${p.x + dy * 6},${p.y - dx * 6}`; }
    const dx = q.x - p.x, dy = q.y - p.y, len = Math.hypot(dx, dy) || 1, ux = dx / len, uy = dy / len;
    return `M${p.x + ux * r},${p.y + uy * r}Q${(p.x + q.x) / 2 - dy * 0.12},${(p.y + q.y) / 2 + dx * 0.12} ${q.x - ux * (r + 3)},${q.y - uy * (r + 3)}`;
  };
  return s("svg", { class: "chart relation", viewBox: `-30 0 ${2 * c + 60} ${2 * c}`, role: "img", "aria-label": told },
    s("defs", {}, s("marker", { id: "to", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, s("path", { class: "arrow", d: "M0,0L8,4L0,8z" }))),
    all.map((e) => s("path", { class: "edge strong", d: line(e), "marker-end": "url(#to)" })),
    names.map((n) => { const p = at.get(n), out = p.x >= c - 1 && p.x <= c + 1 ? "middle" : p.x > c ? "start" : "end"; return [s("circle", { class: "node plain", cx: p.x, cy: p.y, r: 7 }), s("text", { class: "name", x: p.x + (out === "start" ? 12 : out === "end" ? -12 : 0), y: p.y + (out === "middle" ? (p.y < c ? -13 : 21) : 4), "text-anchor": out }, n)]; }));
}
