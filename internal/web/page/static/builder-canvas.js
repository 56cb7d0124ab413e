// The questions in place: the form as a page on which everything can be written.

import { data, h, icon, make, mount, say, small, tool, wrong } from "./vdom.js";
import { addOptions, change, changeOption, edit, examples, isExample, find, has, isBreak, isEnding, kindOf, numberOf, pageOf, put, settle, state } from "./builder-state.js";
import { logicOf, nameOf } from "./builder-logic.js";

export const problemsOf = (uid) => state.problems.filter((p) => p.owner === uid);
export const problemsAt = (at, id) => state.problems.filter((p) => p.at === at).map((p) => wrong(p.message, id));
export const groupIcon = (kind) => icon({ Text: "g-text", Numbers: "g-number", Choices: "g-choice", "Date and time": "g-date", "Contact details": "g-person" }[kind.group] ?? "g-form");

const write = (name, label, value, set, { lines, onenter, ...props } = {}) => h(`textarea.write.${name}`, {
  rows: 1, dir: "auto", "aria-label": label, placeholder: label, value, ...props,
  oninput: (e) => set(lines ? e.target.value : e.target.value.replace(/\s*\n\s*/g, " ")),
  onkeydown: (e) => { if (!lines && e.key === "Enter" && !e.isComposing) { e.preventDefault(); onenter?.(); } },
});
const writeOf = (m, property, name, label, props) =>
  write(name, label, m[property], (text) => change(m._uid, (x) => put(x, property, text), property), { onblur: () => settle(m._uid), ...props });
const text = (m) => writeOf(m, "text", "prose", say("Text"), { lines: true });

// Enter adds an option, Backspace takes an empty one away, a pasted list is many.
export function optionInput(uid, list, o, place, focus) {
  const at = (id) => focus(`[data-option="${place}.${id}"]`);
  const beside = (step) => {
    const all = find(uid)[list];
    return all[all.findIndex((x) => x._uid === o._uid) + step]?._uid;
  };
  const label = (words, tag) => changeOption(uid, list, o._uid, (x) => { x.label = words; }, tag);
  return h("textarea.write", {
    rows: 1, dir: "auto", maxlength: 1000, "data-option": `${place}.${o._uid}`, "aria-label": say("Option"), placeholder: say("Option"), value: o.label,
    oninput: (e) => label(e.target.value.replace(/\s/g, " "), "label"), // also what came out of two columns
    onfocus: (e) => { if (isExample(find(uid)[list], list, o._uid)) e.target.select(); },
    onblur: () => settle(uid, list, o._uid),
    onpaste(e) {
      const lines = e.clipboardData.getData("text").split("\n").map((line) => line.replace(/\s+/g, " ").trim()).filter(Boolean);
      if (lines.length < 2) return;
      e.preventDefault();
      const instead = examples(find(uid)[list], list);
      if (!e.target.value.trim()) label(lines.shift());
      at(addOptions(uid, list, o._uid, lines, instead));
    },
    onkeydown(e) {
      const to = { ArrowUp: beside(-1), ArrowDown: beside(1), Backspace: !e.target.value && (beside(-1) ?? beside(1)), Enter: "new" }[e.key];
      if (!to || e.altKey || e.isComposing) return;
      e.preventDefault();
      if (e.key === "Backspace") change(uid, (f) => { f[list] = f[list].filter((x) => x._uid !== o._uid); });
      at(e.key === "Enter" ? addOptions(uid, list, o._uid, [""]) : to);
    },
  });
}
export const addOption = (uid, list, place, focus, after) => small("plus", list === "rows" ? say("Add row") : say("Add option"), () =>
  focus(`[data-option="${place}.${addOptions(uid, list, after, [""])}"]`));

const most = 20; // options in place; all are in the panel
const mark = (words) => h("span.mark", { "aria-hidden": "true" }, words);
const options = (f, list, look, focus) => h(`ul.options.${look}`, { "aria-label": say(data.own.find((p) => p.name === list).label) },
  f[list]?.slice(0, most).map((o, i) => h("li", { key: o._uid }, mark(look === "ranked" && i + 1), optionInput(f._uid, list, o, "here", focus))),
  f[list]?.length > most && h("li.muted", say("and {n} more", { n: f[list].length - most })),
  f.other && h("li.muted", mark(), `${say("Other")} …`),
  h("li", { key: "add" }, addOption(f._uid, list, "here", focus, f[list]?.[most - 1]?._uid)));

// How a question looks in essence: as the server says by the name of a sketch, or else by
// its properties.
const drawn = (name, ...kids) => h(name, { "aria-hidden": "true" }, kids);
const line = (words, more = "") => drawn(`div.line${more}`, words);
const between = (low, high) => (low || high) && drawn("div.between", h("span", low), h("span", high));
const pills = (list) => drawn("div.pills", list.map((words) => h("span", words)));
const steps = ({ min, max }) => Array.from({ length: Math.min(11, max - min + 1) }, (_, i) => min + i);
const sketches = {
  lines: (f) => line(f.placeholder, ".tall"),
  pair: () => pills([say("Yes"), say("No")]),
  tick: (f) => h("div.tick", mark(), text(f)),
  stars: (f) => [drawn("div.stars-drawn", "★".repeat(Math.min(10, f.max ?? 5))), between(f.low, f.high)],
  steps: (f) => [pills(steps({ min: 0, max: 10, ...f })), between(f.low, f.high)],
  track: (f) => [drawn("div.track", h("span")), between(f.low || `${f.min ?? 0}`, f.high || `${f.max ?? 100}`)],
  name: () => h("div.side", line(say("First name")), line(say("Last name"))),
  address: () => [line(say("Street address")), h("div.side", line(say("Postal code")), line(say("Town or city")))],
  country: (f) => line(f.placeholder || say("Select…"), ".opens"),
  link: (f) => h("p.muted", say("Set by the link"), " ", h("code", `?${f.key}=…`)),
  rows: (f, focus) => h("div.side", options(f, "rows", "plain", focus), options(f, "options", f.several ? "boxes" : "rounds", focus)),
  ranked: (f, focus) => options(f, "options", "ranked", focus),
  dropdown: (f, focus) => options(f, "options", "opens", focus),
};
function picture(f, focus) {
  const kind = kindOf(f);
  if (sketches[kind.sketch]) return sketches[kind.sketch](f, focus);
  if (has(kind, "options")) return options(f, "options", kind.type === "list" ? "boxes" : "rounds", focus);
  if (has(kind, "expression")) return h("p.sum", h("code", f.expression), " ", f.unit);
  if (has(kind, "text")) return text(f);
  return h("div.with-unit", line(f.placeholder, ["number", "moment"].includes(kind.type) ? ".brief" : ""), f.unit && h("span.muted", f.unit));
}

export const pageName = (uid) => say("Page {n}", { n: pageOf(uid) + 1 });

function card(m, acts) {
  const uid = m._uid;
  const kind = kindOf(m);
  const chosen = state.chosen === uid;
  const problems = problemsOf(uid);
  const what = isEnding(m) ? say("Ending") : isBreak(m) ? pageName(uid) : say(kind.title);
  const asks = isEnding(m) ? ["title", "heading", say("Ending title")] : isBreak(m) ? ["label", "heading", say("Page title (optional)")]
    : ["label", "asked", kind.answered ? say("Question") : say("Heading (optional)")];
  return h(isBreak(m) ? "li.break" : "li", { key: uid, "data-uid": uid },
    h(`article.card${chosen ? ".chosen" : ""}${problems.length ? ".bad" : ""}`, { tabindex: 0, "data-card": uid, "aria-label": `${what}: ${nameOf(m)}` },
      h("div.over", kind?.answered && h("span.nr", numberOf(m)), isBreak(m) ? h("strong", what) : [kind ? groupIcon(kind) : icon("flag"), h("span", what)]),
      h("div.asks", writeOf(m, ...asks, { maxlength: 1000, onenter: () => acts.enter(uid) }), m.required && h("span.needed", { title: say("Required") }, "*")),
      m.help && writeOf(m, "help", "help", say("Help text"), { lines: true }),
      isEnding(m) ? m.redirect ? h("p.muted", `→ ${m.redirect}`) : text(m) : !isBreak(m) && h("div.picture", picture(m, acts.focus)),
      logicOf(m).map((words) => h("p.logic-line", icon("branch"), h("span", words))),
      problems.map((p) => wrong(p.message)),
      h("div.handles", { key: "handles" },
        h("span.tool.grip", { "data-drag": uid, title: say("Drag to move") }, icon("drag")),
        tool("up", say("Move up"), () => acts.move(uid, -1)), tool("down", say("Move down"), () => acts.move(uid, 1)),
        tool("copy", say("Duplicate"), () => acts.duplicate(uid)), tool("trash", say("Delete"), () => acts.remove(uid))),
      chosen && kind && tool("plus", say("Add question below"), acts.palette, { class: "insert", key: "insert" })));
}

// A card is drawn again only when something that it shows has changed.
const cards = new Map();
function cached(m, acts) {
  const sign = JSON.stringify([m, logicOf(m), numberOf(m), pageOf(m._uid), state.chosen === m._uid, problemsOf(m._uid)]);
  if (cards.get(m._uid)?.sign !== sign) cards.set(m._uid, { sign, card: card(m, acts) });
  return cards.get(m._uid).card;
}

export function canvas(acts) {
  const { form } = state;
  const whole = (name, look, label, props) => [write(look, label, form[name], (words) => edit((f) => { f[name] = words; }, `form.${name}`), props), problemsAt(`form.${name}`)];
  const list = (name, label) => form[name].length > 0 && h("ol", { key: name, "data-sort": name, "aria-label": label, class: name }, form[name].map((m) => cached(m, acts)));
  return h("section.canvas", { key: "canvas", "aria-label": say("Questions") },
    h("header.leaf-head", { "data-uid": "form" },
      whole("title", "title", say("Form title"), { maxlength: 200 }), whole("description", "lead", say("Description (optional)"), { lines: true }), problemsAt("form.fields")),
    list("fields", say("Questions")) || h("div.first", h("h2", say("Add your first question")), h("p.muted", say("Choose a question type. You can edit everything later.")), kindList(acts.add)),
    form.fields.length > 0 && h("div.more", { key: "more" },
      h("button.primary", { onclick: acts.paletteAtEnd }, icon("plus"), say("Add question")), h("button", { onclick: acts.addPage }, icon("page"), say("Add page")),
      h("button", { onclick: acts.addEnding }, icon("flag"), say("Add ending"))),
    list("endings", say("Endings")) || form.fields.length > 0 && h("p.muted", say("Respondents see “Thank you” at the end. Add an ending to show your own message.")));
}

// The palette: the kinds of question, to choose from.
const named = (k, search) => say(k.title).toLowerCase().startsWith(search.trim().toLowerCase());
const found = (search) => data.kinds.filter((k) => [k.title, k.hint, say(k.title), say(k.hint)].some((text) => text.toLowerCase().includes(search.trim().toLowerCase())));

// kindList shows kinds in their groups.
function kindList(choose, search = "") {
  const groups = Map.groupBy(found(search), (k) => k.group);
  return h("div.kinds", { key: "kinds" },
    [...groups].map(([group, list]) => h("section", { key: group }, h("h3", say(group)), h("ul", list.map((k) => h("li", { key: k.name },
      h("button.kind", { onclick: () => choose(k) }, groupIcon(k), h("span", say(k.title), h("small", say(k.hint))))))))),
    !groups.size && h("p.muted", say("No question types match your search.")));
}

export function openPalette(choose) {
  const box = document.body.appendChild(make(h("dialog.palette", { "aria-label": say("Add question") })));
  const draw = mount(box);
  const pick = (kind) => { box.close(); choose(kind); };
  const show = (search) => draw([
    h("div.pair", { key: "top" },
      h("input", { type: "search", "aria-label": say("Search question types"), placeholder: say("Search question types"), value: search, oninput: (e) => show(e.target.value) }),
      tool("close", say("Close"), () => box.close())),
    kindList(pick, search),
  ]);
  // Arrows go through what can be chosen; Enter takes the best that is found.
  box.onkeydown = (e) => {
    const all = [...box.querySelectorAll("input, .kind")];
    const at = all.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    const list = found(all[0].value);
    if (step) all[Math.max(0, Math.min(all.length - 1, at + step))].focus();
    else if (e.key === "Enter" && at === 0 && list.length) pick(list.find((k) => named(k, all[0].value)) ?? list[0]);
    else return;
    e.preventDefault();
  };
  box.onclick = (e) => { if (e.target === box) box.close(); };
  box.onclose = () => box.remove();
  show("");
  box.showModal();
}
