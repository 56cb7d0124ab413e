// The form builder: its layout, its actions and its keyboard shortcuts.

import { announce, h, icon, iconButton, linkButton, mount, quote, showDialog, t } from "./vdom.js";
import {
  applyHistory, cloneMember, edit, editWithReferenceCheck, findMember, isPageBreak, kindOf, kinds, listOf, newEnding, newField, onChange,
  pageIndexOf, questionNumber, redoStack, state, undoStack,
} from "./builder-state.js";
import { describeLogic, displayName } from "./builder-logic.js";
import { canvas, groupIcon, openPalette, pageName, problemsOf } from "./builder-canvas.js";
import { propertiesPanel } from "./builder-properties.js";
import { saveStatus, scheduleSave, startSaving } from "./builder-save.js";
import { makeDraggable } from "./builder-drag.js";

const root = document.getElementById("builder");
const renderRoot = mount(root);
let pane = "questions"; // on small screens, one pane is visible
let isPreviewOpen = false;
let previewWidth = "desktop";
let previewedPage = -1;

const desktopScreen = matchMedia("(min-width: 62rem)");
const wideScreen = matchMedia("(min-width: 100rem)");

function render(keepFocused) {
  Object.assign(root.dataset, { pane, preview: isPreviewOpen });
  renderRoot([
    toolbar(),
    h("div.builder-panes", { key: "panes" }, outline(), canvas(actions), (isPreviewOpen || pane === "preview") && preview(), propertiesPanel(actions)),
    paneSwitcher(),
  ], keepFocused);
  const heading = document.querySelector(".form-head h1")?.firstChild;
  if (heading?.data) heading.data = `${state.form.title} `;
}

const cardOf = (uid) => root.querySelector(`[data-card="${uid}"]`) ?? root.querySelector(".title");
const labelInputOf = (uid) => cardOf(uid).querySelector(".label-row textarea") ?? cardOf(uid);

function focus(selector) {
  render();
  if (selector) root.querySelector(selector)?.focus();
}

function select(uid) {
  if (state.selectedId === uid) return;
  state.selectedId = uid;
  render();
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
  cardOf(uid).scrollIntoView({ block: editLabel ? "nearest" : "center" });
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

async function confirmRemoval(brokenReferences) {
  const uses = { show_if: t("has a condition that uses it"), jumps: t("has a jump that uses it"), expression: t("uses it in a calculation") };
  const lines = new Set(brokenReferences.map(({ member, property }) => `${quote(displayName(member))} ${uses[property] ?? t("inserts its answer in its text")}`));
  return await showDialog(t("This is used elsewhere in the form"), [
    h("p", t("If you continue, these references are removed:")), h("ul.changes", [...lines].map((line) => h("li", icon("branch"), h("span", line)))),
  ], [["remove", t("Remove and continue"), { class: "danger" }], ["", t("Cancel"), { autofocus: true }]]) === "remove";
}

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
  focusFirstOption: (uid) => cardOf(uid).querySelector("[data-option]")?.focus(),
};

function stepHistory(from, to, announcement) {
  if (!applyHistory(from, to)) return;
  announce(announcement);
  const focusedUid = document.activeElement.closest("[data-uid], body").dataset.uid;
  if (focusedUid !== state.selectedId && !document.activeElement.closest(".panel, .toolbar")) cardOf(state.selectedId).focus({ preventScroll: true });
  cardOf(state.selectedId).scrollIntoView({ block: "nearest" });
}
const undo = () => stepHistory(undoStack, redoStack, t("Undone"));
const redo = () => stepHistory(redoStack, undoStack, t("Redone"));

function toolbar() {
  const disabledIfEmpty = (stack) => ({ "aria-disabled": stack.length ? null : "true" });
  const pressedIf = (isPressed) => ({ "aria-pressed": `${isPressed}` });
  return h("div.toolbar", { key: "toolbar", role: "toolbar", "aria-label": t("Builder") },
    iconButton("undo", t("Undo"), undo, disabledIfEmpty(undoStack)), iconButton("redo", t("Redo"), redo, disabledIfEmpty(redoStack)),
    h(`span.save-status.${saveStatus.kind}`, icon({ saved: "check", saving: "reload" }[saveStatus.kind] ?? "warn"),
      saveStatus.kind === "signin" ? h("a", { href: "/signin", target: "_blank" }, saveStatus.text) : h("span", saveStatus.text)),
    state.meta.version > 0 && h("a.icon-button", { href: `/forms/${state.meta.id}/versions`, "aria-label": t("Version history"), title: t("Version history") }, icon("history")),
    h("button.quiet.preview-toggle", { ...pressedIf(isPreviewOpen), onclick: () => { isPreviewOpen = !isPreviewOpen; render(); updatePreview(true); } }, icon("eye"), h("span", t("Preview"))),
    h("button.quiet", { ...pressedIf(state.selectedId === "form"), onclick: () => { if (!desktopScreen.matches) pane = "properties"; select("form"); focus(".panel"); } },
      icon("gear"), h("span", t("Settings"))),
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
  const fieldEntry = (f) => isPageBreak(f) ? outlineEntry(f._uid, icon("page"), pageName(f._uid) + (f.label ? `: ${f.label}` : ""), f)
    : outlineEntry(f._uid, questionNumber(f) || groupIcon(kindOf(f)), f.label || t(kindOf(f).title), f);
  return h("nav.outline", { key: "outline", "aria-label": t("Outline") },
    h("ul", { key: "form" }, outlineEntry("form", icon("logo"), title || t("Untitled"))),
    h("ol", { key: "fields", "data-sortable": "fields" }, fields.map(fieldEntry)),
    h("ol", { key: "endings", "data-sortable": "endings" }, endings.map((e) => outlineEntry(e._uid, icon("flag"), e.title || t("Ending"), e))),
    linkButton("plus", t("Add question"), actions.openPaletteAtEnd));
}

// updatePreview shows the page of the selected member in the preview, which is the public
// page of the saved draft.
function updatePreview(reload) {
  const frame = document.querySelector(".preview iframe");
  if (!frame?.offsetParent) return;
  const page = pageIndexOf(state.selectedId);
  const key = findMember(state.selectedId)?.key;
  const scrollToQuestion = () => frame.contentDocument?.getElementById(key)?.closest(".question")?.scrollIntoView({ block: "nearest" });
  if (!reload && previewedPage === page && !frame.contentDocument?.querySelector(".step")) return scrollToQuestion();
  const frameRoot = () => frame.contentDocument?.documentElement ?? {}; // an error page of the browser is not accessible
  const scrollTop = previewedPage === page ? frameRoot().scrollTop : 0;
  previewedPage = page;
  frame.onload = () => { frameRoot().scrollTop = scrollTop; if (!scrollTop) scrollToQuestion(); };
  frame.contentWindow.location.replace(`/forms/${state.meta.id}/preview?page=${page}&field=${key}`);
}

function preview() {
  const widthButton = (name, label) => iconButton(name, label, () => { previewWidth = name; render(); }, { "aria-pressed": `${previewWidth === name}` });
  return h(`section.preview${previewWidth === "phone" ? ".phone" : ""}`, { key: "preview", "aria-label": t("Preview") },
    h("div.inline-row", h("span.muted", t("This is what respondents see. Test responses are not saved.")),
      widthButton("desktop", t("Desktop")), widthButton("phone", t("Phone")), iconButton("reload", t("Reload preview"), () => updatePreview(true))),
    h("iframe", { title: t("Preview") }));
}

function paneSwitcher() {
  const paneButton = (name, iconName, label) => h("button", { "aria-pressed": `${pane === name}`, onclick: () => {
    pane = name;
    render();
    scrollTo(0, 0);
    updatePreview(true);
    if (name === "questions") cardOf(state.selectedId).scrollIntoView({ block: "center" });
  } }, icon(iconName), h("span", label));
  return h("div.pane-switcher", { key: "switcher", role: "group", "aria-label": t("Views") },
    paneButton("questions", "g-form", t("Questions")), paneButton("properties", "gear", t("Properties")), paneButton("preview", "eye", t("Preview")));
}

addEventListener("keydown", (event) => {
  if (event.isComposing || document.querySelector("dialog[open]")) return;
  const { target } = event;
  const uid = target.closest("[data-outline]")?.dataset.outline ?? target.closest("[data-uid]")?.dataset.uid ?? state.selectedId;
  const member = findMember(uid);
  const isOnCard = target.matches("[data-card]");
  const shortcut = (event.ctrlKey || event.metaKey ? "mod " : event.altKey ? "alt " : "") + (event.shiftKey ? "shift " : "") + event.key.toLowerCase();
  const action = {
    "mod z": undo, "mod shift z": redo, "mod y": redo, "mod enter": actions.openPalette,
    ...member && { "mod d": () => actions.duplicate(uid), "alt arrowup": () => actions.move(uid, -1), "alt arrowdown": () => actions.move(uid, 1) },
    ...member && (isOnCard || target.matches("[data-outline]")) && { delete: () => actions.remove(uid), backspace: () => actions.remove(uid) },
    ...isOnCard && { enter: () => labelInputOf(uid).focus() },
    ...member && !isOnCard && root.contains(target) && { escape: () => cardOf(uid).focus() },
  }[shortcut];
  if (!action) return;
  event.preventDefault();
  action();
});
root.addEventListener("focusin", (event) => select(event.target.closest("[data-uid]")?.dataset.uid ?? state.selectedId));
makeDraggable(root, moveTo);
onChange(() => { render(); scheduleSave(); });
startSaving(render, () => updatePreview(true));
render();
