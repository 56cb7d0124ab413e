// The canvas: the page of the form, with its design, on which all texts are edited in place.

import { data, h, icon, iconButton, linkButton, problemText, select, t } from "./vdom.js";
import {
  addOptions, assignAutoKey, convertKind, edit, exampleUids, findMember, hasProperty, isEnding, isPageBreak, kindOf, kinds, pageIndexOf, pipesIn,
  setProperty, state, updateMember, updateOption,
} from "./builder-state.js";
import { describeLogic, displayName, fieldByKey } from "./builder-logic.js";

export const problemsOf = (uid) => state.problems.filter((p) => p.uid === uid);
export const problemsAt = (path, id) => state.problems.filter((p) => p.path === path).map((p) => problemText(p.message, id));
const { kinds: kindSprite } = document.getElementById("builder").dataset;
export const kindIcon = (kind) => icon(kind.icon, kindSprite);
export const isAsked = (kind) => kind?.has_answer && !hasProperty(kind, "expression");

const { look } = data;
const colors = new CSSStyleSheet();
colors.replaceSync(`.canvas{${look.colors}}`);
document.adoptedStyleSheets.push(colors);

let actions;

// Chips and Markdown are loaded if a form has them, or when a text is edited that can.
let richText;
function loadRichText() {
  if (richText === undefined) import("./builder-text.js").then((module) => { richText = module; actions.focus(); });
  richText ??= null;
  return richText;
}
const hasChips = (text) => pipesIn(text).some(({ key }) => fieldByKey(key));
const chipNames = (member) => ["label", "title", "help", "text"].flatMap((name) => pipesIn(member[name])).map(({ key }) => fieldByKey(key)?.label).join();

// plainText names inserted answers by their questions.
export const plainText = (text) => pipesIn(text).reduce((plain, pipe) => fieldByKey(pipe.key) ? plain.replace(pipe.text, displayName(fieldByKey(pipe.key))) : plain, text ?? "");

// chipsInput is an input for a text with inserted answers, or nothing if it has none.
export const chipsInput = (label, value, onText, props) => hasChips(value) && loadRichText()
  && h("rich-text.inline-input", { role: "textbox", "aria-label": label, value, oninput: (e) => onText(e.target.value, true), ...props });

// inlineInput is a text area that looks like the text itself.
const inlineInput = (className, label, value, onText, { multiline, onenter, onslash, ...props } = {}) => h(`${hasChips(value) && loadRichText() ? "rich-text" : "textarea"}.inline-input.${className}`, {
  rows: 1, dir: "auto", role: hasChips(value) ? "textbox" : null, "aria-label": label, placeholder: label, value, ...props,
  oninput({ target }) {
    const { value: text, selectionStart, parentElement } = target;
    onText(multiline ? text : text.replace(/\s*\n\s*/g, " "));
    if (target.isConnected) return;
    const replacement = parentElement.querySelector(`.${className}`); // it got its first chip, or lost the last one
    replacement.focus();
    replacement.setSelectionRange(selectionStart, selectionStart);
  },
  onkeydown(e) {
    const format = (e.ctrlKey || e.metaKey) && className === "prose" && { b: "bold", i: "italic" }[e.key];
    if (format && richText) {
      e.preventDefault();
      return richText.format(e.target, format);
    }
    const action = e.key === "Enter" && !multiline && !e.shiftKey && !e.ctrlKey && !e.metaKey ? onenter ?? (() => {}) : e.key === "/" && !e.target.value && onslash;
    if (!action || e.isComposing) return;
    e.preventDefault();
    e.stopPropagation();
    action();
  },
});
const memberInput = (member, property, className, label, props) =>
  inlineInput(className, label, member[property], (text) => updateMember(member._uid, (m) => setProperty(m, property, text), property), { onblur: () => assignAutoKey(member._uid), ...props });
function textInput(member) {
  if (state.selectedId === member._uid || !/[*_#[\n>-]|\{\{/.test(member.text ?? "")) return memberInput(member, "text", "prose", t("Text"), { multiline: true });
  return loadRichText()?.rendered(member.text, { onmousedown: (e) => { e.preventDefault(); actions.editText(member._uid); } }) ?? h("div.prose", member.text);
}

// toolsFor is the toolbar of the texts of the selected card.
function toolsFor(member) {
  const isMarkdown = "text" in member || isEnding(member) || hasProperty(kindOf(member), "text");
  if (!isMarkdown && !richText) return state.form.fields[0] !== member && linkButton("plus", t("Insert answer"), loadRichText, { key: "text-tools" });
  return loadRichText()?.textTools(member, { isMarkdown, element: (wantsMarkdown) => actions.textOf(member._uid, wantsMarkdown) });
}

// listIn returns the lines of a pasted list, or nothing if it is one line.
const listIn = (event) => {
  const lines = event.clipboardData.getData("text").split("\n").filter((line) => line.trim());
  if (lines.length < 2) return null;
  event.preventDefault();
  return lines;
};

// optionInput edits the label of an option on the canvas or in the panel. Enter adds an
// option, or the next question if the option is empty; Backspace removes an empty one, and a
// pasted list becomes several options.
export function optionInput(uid, list, option, area, focus) {
  const focusOption = (optionUid) => focus(`[data-option="${area}.${optionUid}"]`);
  const neighborOption = (step) => findMember(uid)[list].find((o, i, options) => options[i - step]?._uid === option._uid);
  const neighbor = (step) => neighborOption(step)?._uid;
  const setLabel = (text, tag) => updateOption(uid, list, option._uid, (o) => { o.label = text; }, tag);
  const remove = () => updateMember(uid, (f) => { f[list] = f[list].filter((o) => o._uid !== option._uid); });
  return h("textarea.inline-input", {
    rows: 1, dir: "auto", maxlength: 1000, "data-option": `${area}.${option._uid}`, "aria-label": t("Option"), placeholder: t("Write an option, or paste a list"), value: option.label,
    oninput: (e) => setLabel(e.target.value.replace(/\s/g, " "), "label"), // tabs from spreadsheets become spaces
    onblur: () => assignAutoKey(uid, list, option._uid),
    onpaste(e) {
      const lines = listIn(e)?.map((line) => line.replace(/\s+/g, " ").replace(/^ ?([-*•–◦▪☐○]|\(?[a-z0-9]{1,2}[.)]) /i, "").trim());
      if (!lines) return;
      const replacedUids = exampleUids(findMember(uid)[list]);
      if (!e.target.value.trim()) setLabel(lines.shift());
      focusOption(addOptions(uid, list, option._uid, lines, replacedUids));
    },
    onkeydown(e) {
      const isEmptyLast = !e.target.value && !neighbor(1) && neighbor(-1) && area === "canvas";
      const target = { ArrowUp: neighbor(-1), ArrowDown: neighbor(1), Backspace: !e.target.value && (neighbor(-1) ?? neighbor(1)), Enter: neighbor(1) ?? "new" }[e.key];
      if (!target || e.altKey || e.ctrlKey || e.metaKey || e.isComposing) return;
      e.preventDefault();
      if (e.key === "Enter" && isEmptyLast) {
        remove();
        return actions.addNext(uid);
      }
      if (e.key === "Backspace") remove();
      focusOption(e.key === "Enter" && neighborOption(1)?.label !== "" ? addOptions(uid, list, option._uid, [""]) : target);
    },
  });
}
export const addOptionButton = (uid, list, area, focus, afterUid) => linkButton("plus", list === "rows" ? t("Add row") : t("Add option"), () =>
  focus(`[data-option="${area}.${addOptions(uid, list, afterUid, [""])}"]`));

// The controls of questions. A form without questions does not need them yet.
let controls;
const useControls = (module) => { controls = module; controls.setUp({ optionInput, addOptionButton, textInput, kindSprite, focus: (...args) => actions.focus(...args) }); };
if (state.form.fields.length) useControls(await import("./builder-controls.js"));
function controlOf(field) {
  if (!controls) import("./builder-controls.js").then((module) => { if (!controls) useControls(module); actions.focus(); });
  return controls?.controlOf(field);
}

export const pageName = (uid) => t("Page {n}", { n: pageIndexOf(uid) + 1 });

// A question can change to kinds whose answers have the same form.
const family = (kind) => ({ text: kind.hidden ? "" : "text", number: "number", choice: "choice", list: state.meta.version ? "" : "choice" })[kind.type];
export function kindSelect(field, props) {
  const compatible = data.kinds.filter((kind) => kind === kindOf(field) || family(kind) && family(kind) === family(kindOf(field)));
  return compatible.length > 1
    && select(field.kind, compatible.map((kind) => [kind.name, t(kind.title)]), (name) => updateMember(field._uid, (f) => convertKind(f, kinds.get(name))), props);
}

// The kit is the toolbar of the selected question.
function kit(member, typeName) {
  const uid = member._uid;
  const kind = kindOf(member);
  const tool = (name, label, action) => iconButton(name, label, action, { class: "k" });
  return h("div.kit.card-actions.tools", { key: "kit", role: "toolbar", "aria-label": typeName },
    h("span.k.drag-handle", { "data-drag": uid, title: t("Drag to move") }, icon("drag")),
    h("span.k.kind-name", kind ? kindIcon(kind) : icon("flag"), kind && kindSelect(member, { "aria-label": t("Question type") }) || h("span", typeName)),
    isAsked(kind) && h("button.k.toggle", { "aria-pressed": `${Boolean(member.required)}`, onclick: () => updateMember(uid, (m) => setProperty(m, "required", !m.required)) }, t("Required")),
    tool("branch", t("Logic"), () => actions.openPanel(uid, ".logic")), tool("gear", t("Settings"), () => actions.openPanel(uid)),
    tool("up", t("Move up"), () => actions.move(uid, -1)), tool("down", t("Move down"), () => actions.move(uid, 1)),
    tool("copy", t("Duplicate"), () => actions.duplicate(uid)), tool("trash", t("Delete"), () => actions.remove(uid)));
}

function memberCard(member) {
  const uid = member._uid;
  const kind = kindOf(member);
  const isSelected = state.selectedId === uid;
  const problems = problemsOf(uid);
  const isQuestion = kind && !isPageBreak(member);
  const typeName = isEnding(member) ? t("Ending") : isPageBreak(member) ? pageName(uid) : t(kind.title);
  const label = isEnding(member) ? ["title", "heading", t("Ending title")] : isPageBreak(member) ? ["label", "heading", t("Page title (optional)")]
    : ["label", "question-label", kind.has_answer ? t("Question") : t("Heading (optional)")];
  return h(`li.question-card${isQuestion ? ".question" : isEnding(member) ? ".ending" : ".page-break"}${isSelected ? ".selected" : ""}${problems.length ? ".invalid" : ""}`,
    { key: uid, "data-uid": uid, "data-card": uid, tabindex: 0, "aria-label": `${typeName}: ${displayName(member)}` },
    !isQuestion && h("p.card-type", icon(kind ? "page" : "flag"), typeName),
    h(`p.label-row${isQuestion ? ".ask" : ""}`,
      memberInput(member, ...label, { maxlength: 1000, onenter: () => actions.enter(uid), onslash: isQuestion && (() => actions.replaceKind(uid)), onpaste: isQuestion && ((e) => actions.pasteQuestions(uid, listIn(e))) }),
      isAsked(kind) && !member.required && !kind.hidden && h("span.muted", `(${t("optional")})`)),
    member.help && h("p.muted", memberInput(member, "help", "help", t("Help text"), { multiline: true })),
    isEnding(member) ? member.redirect ? h("p.muted", `→ ${member.redirect}`) : textInput(member) : isQuestion && controlOf(member),
    describeLogic(member).map((text) => h("p.logic-note", icon("branch"), h("span", text))),
    problems.map((p) => problemText(p.message)),
    isSelected && !isPageBreak(member) && toolsFor(member),
    isSelected && kit(member, typeName),
    isSelected && kind && iconButton("plus", t("Add question below"), actions.openPalette, { class: "insert-button", key: "insert" }));
}

// A card is rendered again only if something that it shows has changed.
const cardCache = new Map();
function cachedCard(member) {
  const signature = JSON.stringify([member, describeLogic(member), pageIndexOf(member._uid), state.selectedId === member._uid, problemsOf(member._uid), Boolean(richText), Boolean(controls), chipNames(member)]);
  if (cardCache.get(member._uid)?.signature !== signature) cardCache.set(member._uid, { signature, card: memberCard(member) });
  return cardCache.get(member._uid).card;
}

// The palette lists the question types. It is loaded when it is first needed.
let palette;
const loadPalette = () => palette ??= import("./builder-palette.js");
export const openPalette = (onSelect) => loadPalette().then((module) => module.openPalette(onSelect));
let kindList;
function emptyForm() {
  if (!kindList) loadPalette().then((module) => { ({ kindList } = module); actions.focus(); });
  return h("div.empty-form.tools", { key: "empty" }, h("h2", t("Add your first question")), h("p.muted", t("Choose a question type, or paste a list of questions.")), kindList?.(actions.add));
}

export function canvas(builderActions) {
  actions = builderActions;
  const { form } = state;
  const formInput = (name, className, label, props) =>
    h(`div.${className}`, inlineInput(`${name}-input`, label, form[name], (text) => edit((f) => { f[name] = text; }, `form.${name}`), props), problemsAt(`form.${name}`));
  const cardList = (name, label) => form[name].length > 0
    && h("ol", { key: name, "data-sortable": name, "aria-label": label, class: name }, form[name].map((m) => cachedCard(m)));
  return h("section.canvas", { key: "canvas", "aria-label": t("Questions"), "data-mood": look.mood, "data-buttons": look.buttons, "data-width": look.width, "data-align": look.align, "data-background": look.background },
    (look.cover || look.drawn) && h("div.cover", { key: "cover", "aria-hidden": "true" }, look.cover && h("img", { src: `/pictures/${look.cover}`, alt: "" })),
    h("div.public-form",
      h("header.head", { "data-uid": "form", class: `head${state.selectedId === "form" ? " selected" : ""}` },
        look.logo && h("img.logo", { src: `/pictures/${look.logo}`, alt: "", width: 64, height: 64 }),
        formInput("title", "title-text", t("Form title"), { maxlength: 200, onenter: () => actions.enter("form") }), formInput("description", "lead", t("Description (optional)"), { multiline: true }), problemsAt("form.fields")),
      h("div.sheet", { key: "sheet" },
        cardList("fields", t("Questions")) || emptyForm(),
        form.fields.length > 0 && h("div.row", { key: "submit" }, h("button.button.primary", { title: t("Settings"), onclick: () => actions.openPanel("form") }, form.settings.submit_label || t("Submit")))),
      form.fields.length > 0 && h("div.add-buttons.tools", { key: "add" },
        h("button.primary", { onclick: actions.openPaletteAtEnd }, icon("plus"), t("Add question"), h("kbd", "/")), h("button", { onclick: actions.addPage }, icon("page"), t("Add page")),
        h("button", { onclick: actions.addEnding }, icon("flag"), t("Add ending"))),
      cardList("endings", t("Endings")) || form.fields.length > 0 && h("p.muted", t("Respondents see “Thank you” at the end. Add an ending to show your own message."))));
}

if (look.drawn && !look.cover) import("./builder-cover.js");
