// The palette: question types, found by their names and by other words for them.

import { createNode, data, h, iconButton, mount, t } from "./vdom.js";
import { kindIcon } from "./builder-canvas.js";
import { kindTexts } from "./builder-kinds.js";

document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/static/builder-palette.css" }));

for (const kind of data.kinds) Object.assign(kind, kindTexts[kind.name]);

const normalize = (text) => text.trim().toLowerCase().normalize("NFKD").replace(/[\u0300-\u036f-]/g, "");
const has = (text, search) => normalize(text).includes(search);
const startsWord = (text, search) => normalize(text).split(/[\s,]+/).some((word) => word.startsWith(search));

// rank is higher the better a kind matches, or 0. A name counts more than a synonym, and a
// synonym more than the description.
function rank(kind, search) {
  const [title, synonyms, description] = [kind.title, kind.synonyms, kind.description].map((text) => `${text} ${t(text)}`);
  if (normalize(t(kind.title)).startsWith(search) || normalize(kind.title).startsWith(search)) return 5;
  return startsWord(title, search) ? 4 : startsWord(synonyms, search) ? 3 : has(title, search) || has(synonyms, search) ? 2 : has(description, search) ? 1 : 0;
}
function searchKinds(text) {
  const search = normalize(text);
  return data.kinds.map((kind) => [kind, rank(kind, search)]).filter(([, n]) => n).sort(([, a], [, b]) => b - a).map(([kind]) => kind);
}

// highlight marks where a text matches.
function highlight(text, search) {
  const at = search ? text.toLowerCase().indexOf(search.trim().toLowerCase()) : -1;
  const end = at + search.trim().length;
  return at < 0 ? text : [text.slice(0, at), h("mark", text.slice(at, end)), text.slice(end)];
}
// reason says why a kind was found: the synonyms, or its description.
function reason(kind, search) {
  const synonyms = [kind.synonyms, t(kind.synonyms)].findLast((text) => has(text, normalize(search)));
  return synonyms && !has(t(kind.title), normalize(search)) ? [t("also:"), " ", highlight(synonyms, search)] : highlight(t(kind.description), search);
}

const kindButton = (kind, onSelect, search) => h("li", { key: kind.name },
  h("button.kind", { onclick: () => onSelect(kind) }, kindIcon(kind), h("span", highlight(t(kind.title), search), h("small", search ? reason(kind, search) : t(kind.description)))));

export function kindList(onSelect, search = "") {
  const matches = searchKinds(search);
  if (search.trim()) {
    return h("div.kinds.found", { key: "kinds" }, h("ul", matches.map((kind) => kindButton(kind, onSelect, search))), !matches.length && h("p.muted", t("No question types match your search.")));
  }
  return h("div.kinds", { key: "kinds" }, [...Map.groupBy(data.kinds, (kind) => kind.group)].map(([group, list]) =>
    h("section", { key: group }, h("h3", t(group)), h("ul", list.map((kind) => kindButton(kind, onSelect, ""))))));
}

export function openPalette(onSelect) {
  const dialog = document.body.appendChild(createNode(h("dialog.palette", { "aria-label": t("Add question") })));
  const render = mount(dialog);
  const selectKind = (kind) => { dialog.close(); onSelect(kind); };
  const show = (search) => render([
    h("div.inline-row", { key: "search" }, h("span.slash", { "aria-hidden": "true" }, "/"),
      h("input", { type: "search", "aria-label": t("Search question types"), placeholder: t("Such as email, radio, NPS or upload"), value: search, oninput: (e) => show(e.target.value) }),
      iconButton("close", t("Close"), () => dialog.close())),
    kindList(selectKind, search),
  ]);
  // Arrow keys move through the list; Enter in the search selects the best match.
  dialog.onkeydown = (e) => {
    const stops = [...dialog.querySelectorAll("input, .kind")];
    const index = stops.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    const [best] = searchKinds(stops[0].value);
    if (step) stops[Math.max(0, Math.min(stops.length - 1, index + step))].focus();
    else if (e.key === "Enter" && index === 0 && best) selectKind(best);
    else if (e.key === "Escape") dialog.close(); // instead of emptying the search
    else return;
    e.preventDefault();
  };
  dialog.onclick = (e) => { if (e.target === dialog) dialog.close(); };
  dialog.onclose = () => dialog.remove();
  show("");
  dialog.showModal();
}
