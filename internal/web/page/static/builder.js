// The form builder: its layout, its actions and its keyboard shortcuts.

import { announce, data, h, icon, iconButton, linkButton, mount, t } from "./vdom.js";
import {
  applyHistory, cloneMember, edit, editWithReferenceCheck, findMember, isPageBreak, kindOf, kinds, listOf, membersOf, newEnding, newField, onChange,
  questionCount, redoStack, state, undoStack,
} from "./builder-state.js";
import { describeLogic } from "./builder-logic.js";
import { canvas, kindIcon, openPalette, pageName, plainText, problemsOf } from "./builder-canvas.js";
import { saveStatus, scheduleSave, startSaving } from "./builder-save.js";

const root = document.getElementById("builder");
const renderRoot = mount(root);
let pane = "questions"; // on small screens, one pane is visible
let isPreviewOpen = false;
let isPanelOpen = false; // remembered, because people like it open or closed
try { isPanelOpen = localStorage.getItem("builder panel") === "open"; } catch { /* no local storage */ }

const desktopScreen = matchMedia("(min-width: 62rem)");
const wideScreen = matchMedia("(min-width: 100rem)");

function render(keepFocused) {
  Object.assign(root.dataset, { pane, preview: isPreviewOpen, panel: isPanelOpen });
  renderRoot([
    toolbar(),
    h("div.builder-panes", { key: "panes" }, outline(), canvas(actions), (isPreviewOpen || pane === "preview") && preview(), (isPanelOpen || pane === "properties") && propertiesPanel()),
    paneSwitcher(),
  ], keepFocused);
  const heading = document.querySelector(".form-head h1")?.firstChild;
  if (heading?.data) heading.data = state.form.title;
}

const cardOf = (uid) => root.querySelector(`[data-card="${uid}"]`) ?? root.querySelector(".title-input");
const labelInputOf = (uid) => cardOf(uid).querySelector(".label-row .inline-input") ?? cardOf(uid);

function focus(selector) {
  render();
  if (selector) root.querySelector(selector)?.focus();
}

function select(uid) {
  if (state.selectedId === uid) return;
  state.selectedId = uid;
  render();
  root.querySelector(".panel")?.scrollTo(0, 0);
  updatePreview();
}

// goTo selects a member and focuses its card, or its label for editing.
function goTo(uid, editLabel) {
  pane = "questions";
  if (editLabel && !wideScreen.matches) isPreviewOpen = false;
  select(uid);
  render();
  const el = editLabel ? labelInputOf(uid) : cardOf(uid);
  el.focus({ preventScroll: true });
  if (editLabel) el.select?.();
  if (editLabel) cardOf(uid).scrollIntoView({ block: "nearest" });
  else scrollToTop(uid);
}

// scrollToTop shows a card below the toolbar. Cards above it get their size only when they
// come into view, so the position is corrected.
function scrollToTop(uid, corrections = 2) {
  cardOf(uid).scrollIntoView({ block: "start", behavior: "instant" });
  if (corrections) requestAnimationFrame(() => scrollToTop(uid, corrections - 1));
}

function insert(member, afterUid, announcement) {
  edit((form) => {
    const list = listOf(member, form);
    const index = list.findIndex((m) => m._uid === afterUid) + 1;
    list.splice(index || list.length, 0, member);
  });
  goTo(member._uid, true);
  announce(announcement);
}
const addAfter = (uid) => (kind) => insert(newField(kind), uid, t("{kind} added", { kind: t(kind.title) }));
const add = (kind) => addAfter(state.selectedId)(kind);
const append = addAfter("");
const firstKind = () => [...kinds.values()][0];

const confirmRemoval = (references) => import("./builder-remove.js").then((module) => module.confirmRemoval(references));

// moveOrRemove moves a member to an index of its list, or removes it if there is none.
const moveOrRemove = (member, index) => editWithReferenceCheck((form) => {
  const list = listOf(member, form);
  const [moved] = list.splice(list.findIndex((m) => m._uid === member._uid), 1);
  if (index !== undefined) list.splice(index, 0, moved);
}, confirmRemoval);

async function moveTo(uid, index) {
  const member = findMember(uid);
  const list = listOf(member);
  if (index < 0 || index >= list.length || list[index] === member || !(await moveOrRemove(member, index))) return;
  announce(t("Moved to position {n} of {all}", { n: index + 1, all: list.length }));
  cardOf(uid).scrollIntoView({ block: "nearest" });
}

const actions = {
  focus,
  add,
  openPalette: () => openPalette(add),
  // textOf returns the text of a card that was edited last, or the one with Markdown.
  textOf: (uid, isMarkdown) => isMarkdown ? cardOf(uid).querySelector(".prose") : lastText && cardOf(uid).contains(lastText) ? lastText : labelInputOf(uid),
  editText(uid) {
    select(uid);
    cardOf(uid).querySelector(".prose").focus();
  },
  addNext: (uid) => addAfter(uid)(firstKind()),
  // enter continues from a title: at the first option, or with the next question.
  enter(uid) {
    const option = uid !== "form" && cardOf(uid).querySelector("[data-option]");
    const [first] = state.form.fields;
    if (option) option.focus();
    else if (uid === "form" && first) goTo(first._uid, true);
    else if (uid === "form" || state.form.fields.includes(findMember(uid))) actions.addNext(uid);
    else cardOf(uid).querySelector(".prose")?.focus();
  },
  // replaceKind lets the owner choose another type for a question without a text.
  replaceKind: (uid) => openPalette((kind) => {
    const replacement = newField(kind);
    edit((form) => { form.fields[form.fields.findIndex((f) => f._uid === uid)] = replacement; });
    goTo(replacement._uid, true);
    announce(t("{kind} added", { kind: t(kind.title) }));
  }),
  pasteQuestions: (uid, lines) => lines && import("./builder-paste.js").then((module) => module.pasteQuestions(uid, lines, goTo)),
  async openPanel(uid, selector) {
    if (!desktopScreen.matches) pane = "properties";
    else setPanelOpen(true);
    await loadPanel();
    select(uid);
    render();
    const panel = root.querySelector(".panel");
    panel.focus();
    panel.querySelector(selector)?.scrollIntoView();
  },
  closePanel() {
    setPanelOpen(false);
    render();
    cardOf(state.selectedId).focus({ preventScroll: true });
  },
  openPaletteAtEnd: () => openPalette(append),
  addPage: () => append([...kinds.values()].find((kind) => kind.page_break)),
  addEnding: () => insert(newEnding(), "", t("{kind} added", { kind: t("Ending") })),
  move: (uid, step) => moveTo(uid, listOf(findMember(uid)).indexOf(findMember(uid)) + step),
  duplicate: (uid) => insert(cloneMember(findMember(uid)), uid, t("Duplicated")),
  async remove(uid) {
    const list = listOf(findMember(uid));
    const index = list.indexOf(findMember(uid));
    const next = list[index + 1] ?? list[index - 1];
    if (!(await moveOrRemove(findMember(uid)))) return;
    goTo(next?._uid ?? "form");
    announce(t("Deleted. You can undo this."));
  },
};

// The panel is loaded when it is first opened.
let panelModule;
const loadPanel = async () => { panelModule ??= await import("./builder-properties.js"); };
function propertiesPanel() {
  if (panelModule) return panelModule.propertiesPanel(actions);
  loadPanel().then(() => render());
  return h("section.panel", { key: "panel", "aria-label": t("Properties"), tabindex: -1 });
}
function setPanelOpen(isOpen) {
  isPanelOpen = isOpen;
  try { localStorage.setItem("builder panel", isOpen ? "open" : "closed"); } catch { /* no local storage */ }
}

function stepHistory(from, to, announcement) {
  if (!applyHistory(from, to)) return;
  announce(announcement);
  const focusedUid = document.activeElement.closest("[data-uid], body").dataset.uid;
  if (focusedUid !== state.selectedId && !document.activeElement.closest(".panel, .toolbar")) cardOf(state.selectedId).focus({ preventScroll: true });
  cardOf(state.selectedId).scrollIntoView({ block: "nearest" });
}
const showShortcuts = () => import("./builder-help.js").then((module) => module.showShortcuts());
const undo = () => stepHistory(undoStack, redoStack, t("Undone"));
const redo = () => stepHistory(redoStack, undoStack, t("Redone"));

function toolbar() {
  const disabledIfEmpty = (stack) => ({ "aria-disabled": stack.length ? null : "true" });
  const pressedIf = (isPressed) => ({ "aria-pressed": `${isPressed}` });
  return h("div.toolbar", { key: "toolbar", role: "toolbar", "aria-label": t("Builder") },
    iconButton("undo", t("Undo"), undo, disabledIfEmpty(undoStack)), iconButton("redo", t("Redo"), redo, disabledIfEmpty(redoStack)),
    h(`span.save-status.${saveStatus.kind}`, { title: saveStatus.text }, icon({ saved: "check", saving: "reload" }[saveStatus.kind] ?? "warn"),
      saveStatus.kind === "signin" ? h("a", { href: "/signin", target: "_blank" }, saveStatus.text) : h("span", saveStatus.text)),
    state.meta.version > 0 && h("a.icon-button", { href: `/forms/${state.meta.id}/versions`, "aria-label": t("Version history"), title: t("Version history") }, icon("history")),
    h("button.quiet.preview-toggle", { ...pressedIf(isPreviewOpen), onclick: () => { isPreviewOpen = !isPreviewOpen; render(); updatePreview(true); } }, icon("eye"), h("span", t("Preview"))),
    h("button.quiet.settings-button", { ...pressedIf(isPanelOpen && state.selectedId === "form"), onclick: () => isPanelOpen && state.selectedId === "form" ? actions.closePanel() : actions.openPanel("form") }, icon("gear"), h("span", t("Settings"))),
    h("button.primary", { onclick: () => import("./builder-publish.js").then((module) => module.publish(goTo), () => scheduleSave(0)) }, t("Publish")));
}

function outlineEntry(uid, marker, label, member) {
  const problem = problemsOf(uid)[0];
  const logic = member && describeLogic(member).join(". ");
  return h(member && isPageBreak(member) ? "li.outline-page" : "li", { key: uid },
    h("button.outline-entry", { "data-outline": uid, "aria-current": state.selectedId === uid ? "true" : null, onclick: () => goTo(uid) },
      h("span.entry-marker", { "aria-hidden": "true" }, marker), h("span.entry-label", label),
      logic && h("span.entry-flag", { title: logic }, icon("branch"), h("span.visually-hidden", logic)),
      problem && h("span.entry-flag.invalid", { title: problem.message }, icon("warn"), h("span.visually-hidden", problem.message))),
    member && h("span.drag-handle", { "data-drag": uid, title: t("Drag to move") }, icon("drag")));
}

function outline() {
  const { title, fields, endings } = state.form;
  const fieldEntry = (f) => isPageBreak(f) ? outlineEntry(f._uid, icon("page"), pageName(f._uid) + (f.label ? `: ${plainText(f.label)}` : ""), f)
    : outlineEntry(f._uid, kindIcon(kindOf(f)), plainText(f.label) || t(kindOf(f).title), f);
  return h("nav.outline", { key: "outline", "aria-label": t("Outline") },
    h("ul", { key: "form" }, outlineEntry("form", icon("logo"), title || t("Untitled"))),
    h("ol", { key: "fields", "data-sortable": "fields" }, fields.map(fieldEntry)),
    h("ol", { key: "endings", "data-sortable": "endings" }, endings.map((e) => outlineEntry(e._uid, icon("flag"), plainText(e.title) || t("Ending"), e))),
    linkButton("plus", [t("Add question"), h("kbd", "/")], actions.openPaletteAtEnd), h("p.muted.question-count", countText()),
    linkButton("keyboard", [t("Keyboard shortcuts"), h("kbd", "?")], showShortcuts, { class: "link-button shortcuts-button" }));
}
const countText = () => questionCount() === 1 ? t("1 question") : t("{n} questions", { n: questionCount() });

let previewModule;
function preview() {
  if (previewModule) return previewModule.preview(render);
  import("./builder-preview.js").then((module) => { previewModule = module; render(); updatePreview(true); });
  return null;
}
const updatePreview = (reload) => previewModule?.updatePreview(reload);

function paneSwitcher() {
  const paneButton = (name, iconName, label) => h("button", { "aria-pressed": `${pane === name}`, onclick: () => {
    pane = name;
    render();
    scrollTo(0, 0);
    updatePreview(true);
    if (name === "questions") scrollToTop(state.selectedId);
  } }, icon(iconName), h("span", label));
  return h("div.pane-switcher", { key: "switcher", role: "group", "aria-label": t("Views") },
    paneButton("outline", "g-form", countText()), paneButton("questions", "edit", t("Edit")),
    iconButton("plus", t("Add question"), () => { pane = "questions"; actions.openPalette(); }, { class: "primary add-button" }),
    paneButton("properties", "gear", t("Settings")), paneButton("preview", "eye", t("Preview")));
}

addEventListener("keydown", (event) => {
  if (event.isComposing || document.querySelector("dialog[open]")) return;
  const { target } = event;
  const uid = target.closest("[data-outline]")?.dataset.outline ?? target.closest("[data-uid]")?.dataset.uid ?? state.selectedId;
  const member = findMember(uid);
  const isOnCard = target.matches("[data-card]");
  const isTyping = target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");
  const shortcut = (event.ctrlKey || event.metaKey ? "mod " : event.altKey ? "alt " : "") + (event.shiftKey ? "shift " : "") + event.key.toLowerCase();
  const plainKey = !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey && event.key;
  const action = {
    "mod z": undo, "mod shift z": redo, "mod y": redo, "mod enter": actions.openPalette,
    ...member && { "mod d": () => actions.duplicate(uid), "alt arrowup": () => actions.move(uid, -1), "alt arrowdown": () => actions.move(uid, 1) },
    ...member && (isOnCard || target.matches("[data-outline]")) && { delete: () => actions.remove(uid), backspace: () => actions.remove(uid) },
    ...isOnCard && { enter: () => labelInputOf(uid).focus() },
    ...member && !isOnCard && root.contains(target) && { escape: () => cardOf(uid).focus() },
  }[shortcut] ?? { "/": actions.openPalette, "?": showShortcuts }[plainKey];
  if (!action) return;
  event.preventDefault();
  action();
});
let lastText;
root.addEventListener("focusin", ({ target }) => { if (target.matches(".inline-input:not([data-option])")) lastText = target; });
root.addEventListener("focusin", (event) => select(event.target.closest("[data-uid]")?.dataset.uid ?? state.selectedId));
addEventListener("paste", (event) => {
  const lines = event.clipboardData.getData("text").split("\n").filter((line) => line.trim());
  if (lines.length < 2 || event.target.closest("input, textarea, dialog, [contenteditable]")) return;
  event.preventDefault();
  actions.pasteQuestions("", lines);
});
// Dragging is loaded when a mouse comes to a handle, or at the first touch.
let dragging;
root.addEventListener("pointerover", ({ target, pointerType }) => {
  if (pointerType !== "mouse" || target.closest("[data-drag]")) dragging ??= import("./builder-drag.js").then((module) => { module.makeDraggable(root, moveTo); root.dataset.draggable = true; });
});
onChange(() => { render(); scheduleSave(); });
startSaving(render, () => updatePreview(true));
render();
if (data.together) import("./builder-editors.js");
const linked = membersOf().find((m) => location.hash === `#${m.key}`);
if (linked) goTo(linked._uid);
