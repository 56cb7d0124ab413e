// Shows who else has the form open in the builder, and loads what they save. Only forms that
// several people can edit need it.

import { announce, createNode, h, t } from "./vdom.js";
import { redoStack, state, undoStack } from "./builder-state.js";
import { isSaved, loadRemote } from "./builder-save.js";

document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/static/builder-editors.css" }));

const interval = 10000; // milliseconds
const path = `/forms/${state.meta.id}/editors`;
const list = document.querySelector(".form-head h1").parentElement.insertBefore(createNode(h("ul.editors", { "aria-label": t("Also editing") })), document.querySelector(".form-head .tabs"));
let shown = [];
let timer = 0;

const initials = (name) => name.split(/[\s@.]+/).filter(Boolean).slice(0, 2).map((word) => [...word][0].toUpperCase()).join("");

function show(names) {
  const has = (known) => (name) => known.includes(name);
  const [arrived, left] = [names.filter((name) => !has(shown)(name)), shown.filter((name) => !has(names)(name))];
  if (!arrived.length && !left.length) return;
  shown = names;
  list.replaceChildren(...names.map((name) => createNode(h("li", { title: t("{name} is editing too", { name }) },
    h("span", { "aria-hidden": "true" }, initials(name)), h("span.visually-hidden", name)))));
  announce([...arrived.map((name) => t("{name} is editing too", { name })), ...left.map((name) => t("{name} stopped editing", { name }))].join(". "));
}

async function beat() {
  clearTimeout(timer);
  if (document.hidden) return;
  timer = setTimeout(beat, interval);
  try {
    const response = await fetch(path, { method: "POST", redirect: "manual", body: new URLSearchParams({ revision: state.meta.revision }) });
    if (!response.ok) return;
    const { others, draft } = await response.json();
    show(others);
    // Unsaved edits lead to the question which version to keep.
    if (!draft || !isSaved() || draft.revision <= state.meta.revision) return;
    loadRemote(draft);
    undoStack.length = redoStack.length = 0; // undoing would remove what the others have saved
    announce(t("The form was changed by someone else. This is the new version."));
  } catch { /* offline: the next one may succeed */ }
}

document.addEventListener("visibilitychange", beat);
addEventListener("pageshow", ({ persisted }) => { if (persisted) beat(); });
addEventListener("pagehide", () => { clearTimeout(timer); navigator.sendBeacon(path, new URLSearchParams({ leave: 1 })); });
beat();
