// The frame: which model, which view, the link to a state, edits on disk.

import { ask, h, show, source, tab } from "./dom.js";
import * as animate from "./animate.js";
import * as check from "./check.js";
import * as see from "./see.js";

const views = { animate, check, see };
const main = document.getElementById("main");
const banner = document.getElementById("banner");
const models = document.getElementById("model");

/** What the views share. */
export const page = { view: null, shown: "animate", texts: [], say, move, refresh };

function say(text, bad = false, ...more) {
  banner.className = bad ? "bad" : "";
  banner.replaceChildren(...(text ? [text, ...more] : []));
}

/** Asks something that changes the session, and shows what is the case then. */
async function move(question, about) {
  try {
    const view = await ask(question, about);
    await arrived(view);
    say(view.said ?? "");
  } catch (e) {
    if (e.gone) await begin();
    else say(e.message, true);
  }
}

async function arrived(view) {
  const fresh = !page.view || page.view.model !== view.model || view.fresh;
  page.view = view;
  document.getElementById("machine").textContent = view.machine ?? view.model;
  document.title = `${view.machine ?? view.model} · kanon`;
  if (fresh) page.texts = (await ask("texts")).texts;
  models.value = view.model;
  const link = new URLSearchParams({ view: page.shown, model: view.model });
  if (view.address) link.set("at", view.address);
  history.replaceState(null, "", `#${link}`);
  refresh();
}

function refresh() {
  for (const button of document.querySelectorAll("nav button")) {
    if (button.dataset.view === page.shown) button.setAttribute("aria-current", "page");
    else button.removeAttribute("aria-current");
  }
  const view = page.view;
  if (!view) return;
  if (view.errors) {
    return show(main, h("section", { class: "card" }, h("h2", {}, "The model has errors"),
      view.errors.map((e) => h("div", { class: "problem" },
        h("strong", {}, e.file ? `${e.file}:${e.line}:${e.column} ` : ""), e.message,
        e.help ? h("div", { class: "soft" }, e.help) : null)),
      source(page.texts, view.errors.find((e) => e.file), view.errors)));
  }
  views[page.shown].draw(main, page);
}

function open(shown) {
  page.shown = shown;
  say("");
  if (page.view) arrived(page.view).then(() => views[shown].enter?.(page));
}

async function begin() {
  const link = new URLSearchParams(location.hash.slice(1));
  page.shown = link.get("view") in views ? link.get("view") : "animate";
  let first;
  try {
    first = await ask("begin", link.get("model") ? { model: link.get("model") } : {});
  } catch (e) {
    first = await ask("begin").catch(() => null);
    say(e.message, true);
    if (!first) return;
  }
  tab.name = first.tab;
  show(models, first.models.map((m) => h("option", { value: m }, m)));
  await arrived({ ...first, fresh: true });
  if (link.get("at")) await move("link", { address: link.get("at") });
  views[page.shown].enter?.(page);
}

for (const button of document.querySelectorAll("nav button")) {
  button.addEventListener("click", () => open(button.dataset.view));
}
models.addEventListener("change", () => {
  check.forget();
  see.forget();
  move("open", { model: models.value });
});
document.addEventListener("keydown", (e) => {
  if (e.target.closest("input, textarea, select") || e.ctrlKey || e.metaKey || e.altKey) return;
  const keys = {
    u: () => move("undo"), r: () => move("redo"),
    1: () => open("animate"), 2: () => open("check"), 3: () => open("see"),
    "/": () => document.getElementById("filter")?.focus(),
  };
  if (keys[e.key]) {
    e.preventDefault();
    keys[e.key]();
  }
});
// Edits on disk.
setInterval(async () => {
  if (!tab.name || document.hidden) return;
  try {
    if ((await ask("changed")).changed) {
      const view = await ask("reload");
      await arrived({ ...view, fresh: true });
      say(view.said ? `the model was changed; ${view.said}` : "the model was changed and read again");
    }
  } catch {
    // The program has gone, or is busy: the next question will tell.
  }
}, 1500);
begin();
