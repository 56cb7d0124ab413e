// The canvas: the form as a page on which all texts are edited in place.

import { createNode, data, h, icon, iconButton, linkButton, mount, problemText, t } from "./vdom.js";
import {
  addOptions, assignAutoKey, edit, exampleUids, findMember, hasProperty, isEnding, isPageBreak, kindOf, pageIndexOf, questionNumber,
  setProperty, state, updateMember, updateOption,
} from "./builder-state.js";
import { describeLogic, displayName } from "./builder-logic.js";

export const problemsOf = (uid) => state.problems.filter((p) => p.uid === uid);
export const problemsAt = (path, id) => state.problems.filter((p) => p.path === path).map((p) => problemText(p.message, id));

const groupIcons = { Text: "g-text", Numbers: "g-number", Choices: "g-choice", "Date and time": "g-date", "Contact details": "g-person", Files: "file" };
export const groupIcon = (kind) => icon(groupIcons[kind.group] ?? "g-form");

// inlineInput is a text area that looks like the text itself.
const inlineInput = (className, label, value, onText, { multiline, onenter, ...props } = {}) => h(`textarea.inline-input.${className}`, {
  rows: 1, dir: "auto", "aria-label": label, placeholder: label, value, ...props,
  oninput: (e) => onText(multiline ? e.target.value : e.target.value.replace(/\s*\n\s*/g, " ")),
  onkeydown: (e) => { if (!multiline && e.key === "Enter" && !e.isComposing) { e.preventDefault(); onenter?.(); } },
});
const memberInput = (member, property, className, label, props) =>
  inlineInput(className, label, member[property], (text) => updateMember(member._uid, (m) => setProperty(m, property, text), property), { onblur: () => assignAutoKey(member._uid), ...props });
const textInput = (member) => memberInput(member, "text", "prose", t("Text"), { multiline: true });

// optionInput edits the label of an option on the canvas or in the panel. Enter adds an
// option, Backspace removes an empty one, and a pasted list becomes several options.
export function optionInput(uid, list, option, area, focus) {
  const focusOption = (optionUid) => focus(`[data-option="${area}.${optionUid}"]`);
  const neighbor = (step) => {
    const options = findMember(uid)[list];
    return options[options.findIndex((o) => o._uid === option._uid) + step]?._uid;
  };
  const setLabel = (text, tag) => updateOption(uid, list, option._uid, (o) => { o.label = text; }, tag);
  return h("textarea.inline-input", {
    rows: 1, dir: "auto", maxlength: 1000, "data-option": `${area}.${option._uid}`, "aria-label": t("Option"), placeholder: t("Option"), value: option.label,
    oninput: (e) => setLabel(e.target.value.replace(/\s/g, " "), "label"), // tabs from spreadsheets become spaces
    onblur: () => assignAutoKey(uid, list, option._uid),
    onpaste(e) {
      const lines = e.clipboardData.getData("text").split("\n").map((line) => line.replace(/\s+/g, " ").trim()).filter(Boolean);
      if (lines.length < 2) return;
      e.preventDefault();
      const replacedUids = exampleUids(findMember(uid)[list]);
      if (!e.target.value.trim()) setLabel(lines.shift());
      focusOption(addOptions(uid, list, option._uid, lines, replacedUids));
    },
    onkeydown(e) {
      const target = { ArrowUp: neighbor(-1), ArrowDown: neighbor(1), Backspace: !e.target.value && (neighbor(-1) ?? neighbor(1)), Enter: "new" }[e.key];
      if (!target || e.altKey || e.isComposing) return;
      e.preventDefault();
      if (e.key === "Backspace") updateMember(uid, (f) => { f[list] = f[list].filter((o) => o._uid !== option._uid); });
      focusOption(e.key === "Enter" ? addOptions(uid, list, option._uid, [""]) : target);
    },
  });
}
export const addOptionButton = (uid, list, area, focus, afterUid) => linkButton("plus", list === "rows" ? t("Add row") : t("Add option"), () =>
  focus(`[data-option="${area}.${addOptions(uid, list, afterUid, [""])}"]`));

const maxShownOptions = 20; // the panel shows all
const marker = (text) => h("span.marker", { "aria-hidden": "true" }, text);
const optionList = (f, list, style, focus) => h(`ul.options.${style}`, { "aria-label": t(data.kind_properties.find((p) => p.name === list).label) },
  f[list]?.slice(0, maxShownOptions).map((o, i) => h("li", { key: o._uid }, marker(style === "ranked" && i + 1), o.image && h("img", { src: `/pictures/${o.image}`, alt: "", height: 40 }), optionInput(f._uid, list, o, "canvas", focus))),
  f[list]?.length > maxShownOptions && h("li.muted", t("and {n} more", { n: f[list].length - maxShownOptions })),
  f.other && h("li.muted", marker(), `${t("Other")} …`),
  h("li", { key: "add" }, addOptionButton(f._uid, list, "canvas", focus, f[list]?.[maxShownOptions - 1]?._uid)));

// A sketch shows roughly what the question looks like: the one that the kind names, or one
// by its properties.
const decorative = (name, ...children) => h(name, { "aria-hidden": "true" }, children);
const sketchInput = (text, classes = "") => decorative(`div.sketch-input${classes}`, text);
const scaleLabels = (low, high) => (low || high) && decorative("div.scale-labels", h("span", low), h("span", high));
const pills = (texts) => decorative("div.pills", texts.map((text) => h("span", text)));
const scaleSteps = ({ min, max }) => Array.from({ length: Math.min(11, max - min + 1) }, (_, i) => min + i);
const sketches = {
  textarea: (f) => sketchInput(f.placeholder, ".tall"),
  yes_no: () => pills([t("Yes"), t("No")]),
  checkbox: (f) => h("div.sketch-checkbox", marker(), textInput(f)),
  stars: (f) => [decorative("div.sketch-stars", "★".repeat(Math.min(10, f.max ?? 5))), scaleLabels(f.low, f.high)],
  scale: (f) => [pills(scaleSteps({ min: 0, max: 10, ...f })), scaleLabels(f.low, f.high)],
  slider: (f) => [decorative("div.sketch-slider", h("span")), scaleLabels(f.low || `${f.min ?? 0}`, f.high || `${f.max ?? 100}`)],
  name: () => h("div.sketch-columns", sketchInput(t("First name")), sketchInput(t("Last name"))),
  address: () => [sketchInput(t("Street address")), h("div.sketch-columns", sketchInput(t("Postal code")), sketchInput(t("Town or city")))],
  country: (f) => sketchInput(f.placeholder || t("Select…"), ".dropdown"),
  hidden: (f) => h("p.muted", t("Set by the link"), " ", h("code", `?${f.key}=…`)),
  matrix: (f, focus) => h("div.sketch-columns", optionList(f, "rows", "plain", focus), optionList(f, "options", f.several ? "checkboxes" : "radios", focus)),
  file: () => decorative("div.sketch-drop", icon("file"), t("Choose a file")),
  signature: () => decorative("div.sketch-drop", t("Signature")),
  pictures: (f, focus) => optionList(f, "options", f.several ? "checkboxes" : "radios", focus),
  ranking: (f, focus) => optionList(f, "options", "ranked", focus),
  dropdown: (f, focus) => optionList(f, "options", "dropdown", focus),
};
function sketchOf(f, focus) {
  const kind = kindOf(f);
  if (sketches[kind.sketch]) return sketches[kind.sketch](f, focus);
  if (hasProperty(kind, "options")) return optionList(f, "options", kind.type === "list" ? "checkboxes" : "radios", focus);
  if (hasProperty(kind, "expression")) return h("p.formula", h("code", f.expression), " ", f.unit);
  if (hasProperty(kind, "text")) return textInput(f);
  return h("div.with-unit", sketchInput(f.placeholder, ["number", "date"].includes(kind.type) ? ".short" : ""), f.unit && h("span.muted", f.unit));
}

export const pageName = (uid) => t("Page {n}", { n: pageIndexOf(uid) + 1 });

function memberCard(member, actions) {
  const uid = member._uid;
  const kind = kindOf(member);
  const isSelected = state.selectedId === uid;
  const problems = problemsOf(uid);
  const typeName = isEnding(member) ? t("Ending") : isPageBreak(member) ? pageName(uid) : t(kind.title);
  const label = isEnding(member) ? ["title", "heading", t("Ending title")] : isPageBreak(member) ? ["label", "heading", t("Page title (optional)")]
    : ["label", "question-label", kind.has_answer ? t("Question") : t("Heading (optional)")];
  return h(isPageBreak(member) ? "li.page-break" : "li", { key: uid, "data-uid": uid },
    h(`article.question-card${isSelected ? ".selected" : ""}${problems.length ? ".invalid" : ""}`, { tabindex: 0, "data-card": uid, "aria-label": `${typeName}: ${displayName(member)}` },
      h("div.card-header", kind?.has_answer && h("span.question-number", questionNumber(member)),
        isPageBreak(member) ? h("strong", typeName) : [kind ? groupIcon(kind) : icon("flag"), h("span", typeName)]),
      h("div.label-row", memberInput(member, ...label, { maxlength: 1000, onenter: () => actions.focusFirstOption(uid) }), member.required && h("span.required-mark", { title: t("Required") }, "*")),
      member.help && memberInput(member, "help", "help", t("Help text"), { multiline: true }),
      isEnding(member) ? member.redirect ? h("p.muted", `→ ${member.redirect}`) : textInput(member) : !isPageBreak(member) && h("div.sketch", sketchOf(member, actions.focus)),
      describeLogic(member).map((text) => h("p.logic-note", icon("branch"), h("span", text))),
      problems.map((p) => problemText(p.message)),
      h("div.card-actions", { key: "actions" },
        h("span.icon-button.drag-handle", { "data-drag": uid, title: t("Drag to move") }, icon("drag")),
        iconButton("up", t("Move up"), () => actions.move(uid, -1)), iconButton("down", t("Move down"), () => actions.move(uid, 1)),
        iconButton("copy", t("Duplicate"), () => actions.duplicate(uid)), iconButton("trash", t("Delete"), () => actions.remove(uid))),
      isSelected && kind && iconButton("plus", t("Add question below"), actions.openPalette, { class: "insert-button", key: "insert" })));
}

// A card is rendered again only if something that it shows has changed.
const cardCache = new Map();
function cachedCard(member, actions) {
  const signature = JSON.stringify([member, describeLogic(member), questionNumber(member), pageIndexOf(member._uid), state.selectedId === member._uid, problemsOf(member._uid)]);
  if (cardCache.get(member._uid)?.signature !== signature) cardCache.set(member._uid, { signature, card: memberCard(member, actions) });
  return cardCache.get(member._uid).card;
}

export function canvas(actions) {
  const { form } = state;
  const formInput = (name, className, label, props) =>
    [inlineInput(className, label, form[name], (text) => edit((f) => { f[name] = text; }, `form.${name}`), props), problemsAt(`form.${name}`)];
  const cardList = (name, label) => form[name].length > 0
    && h("ol", { key: name, "data-sortable": name, "aria-label": label, class: name }, form[name].map((m) => cachedCard(m, actions)));
  return h("section.canvas", { key: "canvas", "aria-label": t("Questions") },
    h("header.canvas-header", { "data-uid": "form" },
      formInput("title", "title", t("Form title"), { maxlength: 200 }), formInput("description", "lead", t("Description (optional)"), { multiline: true }), problemsAt("form.fields")),
    cardList("fields", t("Questions"))
      || h("div.empty-form", h("h2", t("Add your first question")), h("p.muted", t("Choose a question type. You can edit everything later.")), kindList(actions.add)),
    form.fields.length > 0 && h("div.add-buttons", { key: "add" },
      h("button.primary", { onclick: actions.openPaletteAtEnd }, icon("plus"), t("Add question")), h("button", { onclick: actions.addPage }, icon("page"), t("Add page")),
      h("button", { onclick: actions.addEnding }, icon("flag"), t("Add ending"))),
    cardList("endings", t("Endings")) || form.fields.length > 0 && h("p.muted", t("Respondents see “Thank you” at the end. Add an ending to show your own message.")));
}

// The palette lists the question types.
const normalize = (text) => text.trim().toLowerCase();
const titleStartsWith = (kind, search) => t(kind.title).toLowerCase().startsWith(normalize(search));
const searchKinds = (search) => data.kinds.filter((kind) =>
  [kind.title, kind.description, t(kind.title), t(kind.description)].some((text) => text.toLowerCase().includes(normalize(search))));

function kindList(onSelect, search = "") {
  const groups = Map.groupBy(searchKinds(search), (kind) => kind.group);
  return h("div.kinds", { key: "kinds" },
    [...groups].map(([group, list]) => h("section", { key: group }, h("h3", t(group)), h("ul", list.map((kind) => h("li", { key: kind.name },
      h("button.kind", { onclick: () => onSelect(kind) }, groupIcon(kind), h("span", t(kind.title), h("small", t(kind.description))))))))),
    !groups.size && h("p.muted", t("No question types match your search.")));
}

export function openPalette(onSelect) {
  const dialog = document.body.appendChild(createNode(h("dialog.palette", { "aria-label": t("Add question") })));
  const render = mount(dialog);
  const selectKind = (kind) => { dialog.close(); onSelect(kind); };
  const show = (search) => render([
    h("div.inline-row", { key: "search" },
      h("input", { type: "search", "aria-label": t("Search question types"), placeholder: t("Search question types"), value: search, oninput: (e) => show(e.target.value) }),
      iconButton("close", t("Close"), () => dialog.close())),
    kindList(selectKind, search),
  ]);
  // Arrow keys move through the list; Enter in the search selects the best match.
  dialog.onkeydown = (e) => {
    const stops = [...dialog.querySelectorAll("input, .kind")];
    const index = stops.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    const matches = searchKinds(stops[0].value);
    if (step) stops[Math.max(0, Math.min(stops.length - 1, index + step))].focus();
    else if (e.key === "Enter" && index === 0 && matches.length) selectKind(matches.find((kind) => titleStartsWith(kind, stops[0].value)) ?? matches[0]);
    else return;
    e.preventDefault();
  };
  dialog.onclick = (e) => { if (e.target === dialog) dialog.close(); };
  dialog.onclose = () => dialog.remove();
  show("");
  dialog.showModal();
}
