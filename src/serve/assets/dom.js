// Elements, and questions to the program. Texts become text nodes, never markup.

const SVG = "http://www.w3.org/2000/svg";

function make(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children.flat(9).filter((c) => c !== null && c !== undefined && c !== false));
  return element;
}

/** An element: `h("p", { class: "soft" }, "text", child)`. */
export const h = (tag, attributes, ...children) => make(document.createElement(tag), attributes, children);

/** An element of a drawing. */
export const s = (tag, attributes, ...children) => make(document.createElementNS(SVG, tag), attributes, children);

/** Puts children into an element. Elements with the same `data-key` are the same: they keep the focus and what was typed. */
export function show(element, ...children) {
  const active = document.activeElement, key = active?.closest?.("[data-key]")?.dataset.key;
  const within = element.contains(active);
  const typed = 'input[type="text"][data-key], input[type="search"][data-key], input[type="number"][data-key]';
  const texts = new Map([...element.querySelectorAll(typed)].map((e) => [e.dataset.key, e.value]));
  const caret = within && active.matches?.(typed) && active.type !== "number" ? [active.selectionStart, active.selectionEnd] : null;
  element.replaceChildren(...children.flat(9).filter(Boolean));
  for (const e of element.querySelectorAll(typed)) if (texts.has(e.dataset.key)) e.value = texts.get(e.dataset.key);
  const again = within && key && [...element.querySelectorAll("[data-key]")].find((e) => e.dataset.key === key);
  if (again) again.focus();
  if (again && caret) again.setSelectionRange(...caret);
}

export const tab = { name: null };

/** Asks the program. The answer is an object; what went wrong is an Error. */
export async function ask(question, about = {}) {
  const response = await fetch(`api/${question}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ...about, tab: tab.name }),
  });
  if (!response.ok) throw new Error((await response.text()).trim());
  const answer = await response.json();
  if (answer.error) throw Object.assign(new Error(answer.error), { gone: answer.gone });
  return answer;
}

/** An explanation that unfolds. */
export function tree(parts, open = 2) {
  const line = (p) =>
    p.kind === "note"
      ? h("span", { class: "note" }, p.value ? `${p.text}: ${p.value}` : p.text)
      : h("code", {}, p.text, " = ", h("span", { class: "v" }, p.value));
  return parts.map((p) =>
    p.below.length
      ? h("details", { open: open > 0 }, h("summary", {}, line(p)), h("div", { class: "why" }, tree(p.below, open - 1)))
      : h("div", { class: "leaf" }, line(p)),
  );
}

export const pairs = (list) => list.map(([n, v]) => `${n} = ${v}`).join(", ");

export const plural = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;

/** A file for the user. */
export function download(name, text) {
  const link = h("a", { href: `data:application/json;charset=utf-8,${encodeURIComponent(text)}`, download: name });
  document.body.append(link);
  link.click();
  link.remove();
}

/** The texts of the model, with a part of one highlighted. `where` is { file, line, from, to }. */
export function source(texts, where, errors = []) {
  const shown = texts.find((t) => where && t.file === where.file) ?? texts[0];
  if (!shown) return null;
  const wrong = new Set(errors.filter((e) => e.file === shown.file).map((e) => e.line));
  const bytes = new TextEncoder().encode(shown.text);
  const slice = (a, b) => new TextDecoder().decode(bytes.slice(a, b));
  let at = 0;
  const lines = shown.text.split("\n").map((line, i) => {
    const begin = at;
    const end = begin + new TextEncoder().encode(line).length;
    at = end + 1;
    const row = h("div", { class: wrong.has(i + 1) ? "wrong" : null });
    const from = Math.max(begin, where?.from ?? -1), to = Math.min(end, where?.to ?? -1);
    if (where && where.from !== undefined && from < to) {
      row.append(slice(begin, from), h("mark", {}, slice(from, to)), slice(to, end) || "");
      row.dataset.marked = "";
    } else row.append(line || " ");
    return row;
  });
  const box = h("div", { class: "source", tabindex: 0, role: "region", "aria-label": `Source of ${shown.file}` }, lines);
  requestAnimationFrame(() => {
    const marked = box.querySelector("[data-marked], .wrong");
    if (marked) box.scrollTop = Math.max(0, marked.offsetTop - box.offsetTop - 80);
  });
  return h("div", {}, h("p", { class: "soft small" }, shown.file), box);
}
