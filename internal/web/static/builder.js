// The builder: what it is made of, and what can be done with it.

import { announce, dialog, h, icon, mount, say, sentenceOf, tool } from "./builder-view.js";
import {
  begin, beginEnding, canRedo, canUndo, edit, find, guarded, isBreak, isEnding, kindOf, kinds, members, numberOf, onChange, pageOf, redo, state, twin, undo,
} from "./builder-draft.js";
import { logicOf, nameOf } from "./builder-logic.js";
import { canvas, groupIcon, problemsOf } from "./builder-canvas.js";
import { panel } from "./builder-panel.js";
import { kindList, openPalette } from "./builder-palette.js";
import { preview, showPreview } from "./builder-preview.js";
import { publish } from "./builder-publish.js";
import { schedule, start, status } from "./builder-save.js";
import { draggable } from "./builder-drag.js";

const root = document.getElementById("builder");
const paint = mount(root);
let pane = "questions"; // on a phone, one at a time
let previewing = false;
let shownTitle = "";

const still = matchMedia("(prefers-reduced-motion: reduce)");
const wide = matchMedia("(min-width: 62rem)");

function draw(gently) {
  root.dataset.pane = pane;
  root.dataset.preview = previewing;
  paint([tools(), h("div", { class: "desk", key: "desk" }, outline(), canvas(acts, kindList(add)), (previewing || pane === "preview") && preview(draw), panel(acts)), panes()], gently);
  if (state.form.title !== shownTitle) {
    shownTitle = state.form.title;
    const heading = document.querySelector(".form-head h1")?.firstChild;
    if (heading?.nodeType === Node.TEXT_NODE) heading.data = `${shownTitle} `;
  }
}

const card = (uid) => root.querySelector(`[data-card="${uid}"]`);
const canvasField = (uid) => card(uid)?.querySelector(".asks textarea") ?? card(uid);

// focus draws, then brings the person to what a selector finds.
function focus(selector) {
  draw();
  const el = typeof selector === "string" ? root.querySelector(selector) : selector;
  el?.focus();
}

function choose(uid) {
  if (state.chosen === uid) return;
  state.chosen = uid;
  draw();
  showPreview();
}

function goTo(uid) {
  pane = "questions";
  if (!wide.matches) previewing = false;
  choose(uid);
  draw();
  const el = uid === "form" ? root.querySelector(".title") : card(uid);
  el?.focus({ preventScroll: true });
  el?.scrollIntoView({ block: "center", behavior: still.matches ? "auto" : "smooth" });
}

// write brings the person to the words of something new.
function write(uid) {
  pane = "questions";
  if (!wide.matches || innerWidth < 1600) previewing = false;
  state.chosen = uid;
  draw();
  const el = canvasField(uid);
  el?.focus({ preventScroll: true });
  el?.select?.();
  card(uid)?.scrollIntoView({ block: "nearest", behavior: still.matches ? "auto" : "smooth" });
}

function add(kind) {
  const field = begin(kind);
  edit((form) => {
    const at = form.fields.findIndex((f) => f._uid === state.chosen);
    form.fields.splice(at < 0 ? form.fields.length : at + 1, 0, field);
    state.chosen = field._uid;
  });
  write(field._uid);
  announce(say("{kind} added", { kind: say(kind.title) }));
}

const listOf = (member, form) => isEnding(member) ? form.endings : form.fields;

// Who speaks of what goes away, and whether that should go, too.
async function referring(broken) {
  const how = { show_if: say("is shown only by its answer"), jumps: say("leads on by it, or to it"), expression: say("calculates with it") };
  const lines = new Map(broken.map((d) => [`${d.member._uid}${d.how}`, h("li", null, icon("branch"), h("span", null, `“${nameOf(d.member)}” `, how[d.how] ?? say("repeats its answer")))]));
  return await dialog(say("Others speak of it"), [
    h("p", null, say("After this change they could not know the answer:")), h("ul", { class: "changes" }, [...lines.values()]),
  ], [["yes", say("Remove these conditions"), { class: "danger" }], ["", say("Leave it as it is"), { autofocus: true }]]) === "yes";
}

async function place(uid, to) {
  const member = find(uid);
  const list = listOf(member, state.form);
  if (to < 0 || to >= list.length || list.indexOf(member) === to) return;
  const done = await guarded((form) => {
    const mine = listOf(member, form);
    mine.splice(to, 0, ...mine.splice(mine.findIndex((m) => m._uid === uid), 1));
  }, referring);
  if (!done) return;
  announce(say("Moved to place {n} of {all}", { n: to + 1, all: list.length }));
  card(uid)?.scrollIntoView({ block: "nearest", behavior: still.matches ? "auto" : "smooth" });
  showPreview();
}

const acts = {
  focus,
  palette: () => openPalette(add),
  addPage: () => add(kinds.get("page_break")),
  addEnding() {
    const ending = beginEnding();
    edit((form) => { form.endings.push(ending); state.chosen = ending._uid; });
    write(ending._uid);
  },
  move: (uid, step) => place(uid, listOf(find(uid), state.form).indexOf(find(uid)) + step),
  duplicate(uid) {
    const copy = twin(find(uid));
    edit((form) => {
      const list = listOf(copy, form);
      list.splice(list.findIndex((m) => m._uid === uid) + 1, 0, copy);
      state.chosen = copy._uid;
    });
    write(copy._uid);
    announce(say("Duplicated"));
  },
  async remove(uid) {
    const member = find(uid);
    const list = listOf(member, state.form);
    const at = list.indexOf(member);
    const next = list[at + 1] ?? list[at - 1];
    const done = await guarded((form) => {
      const mine = listOf(member, form);
      mine.splice(mine.findIndex((m) => m._uid === uid), 1);
    }, referring);
    if (!done) return;
    state.chosen = next?._uid ?? "form";
    draw();
    (card(state.chosen) ?? root.querySelector(".title"))?.focus({ preventScroll: true });
    announce(say("Deleted. Undo brings it back."));
  },
  // Enter in a question goes on to its answers.
  enter(uid) { card(uid)?.querySelector("[data-option]")?.focus(); },
};

function tools() {
  return h("div", { class: "tools", key: "tools", role: "toolbar", "aria-label": say("Builder") },
    tool("undo", say("Undo"), { "aria-disabled": canUndo() ? null : "true", "aria-keyshortcuts": "Control+Z", onclick: () => step(undo, say("Undone")) }),
    tool("redo", say("Redo"), { "aria-disabled": canRedo() ? null : "true", "aria-keyshortcuts": "Control+Shift+Z", onclick: () => step(redo, say("Done again")) }),
    h("span", { class: `saved ${status.kind}` }, icon({ saved: "check", waiting: "again", saving: "again" }[status.kind] ?? "warn"),
      status.kind === "signin" ? h("a", { href: "/signin", target: "_blank" }, status.text) : h("span", null, status.text)),
    h("button", { type: "button", class: "quiet show", "aria-pressed": `${previewing}`, onclick: () => { previewing = !previewing; draw(); showPreview(true); } }, icon("eye"), h("span", null, say("Preview"))),
    h("button", { type: "button", class: "quiet", "aria-pressed": `${state.chosen === "form"}`, onclick: () => { pane = wide.matches ? pane : "properties"; state.chosen = "form"; focus(".panel"); } }, icon("gear"), h("span", null, say("Settings"))),
    h("button", { type: "button", class: "primary", onclick: () => publish(draw) }, say("Publish")));
}

function step(how, words) {
  if (!how()) return;
  announce(words);
  const at = card(state.chosen);
  if (at && !root.contains(document.activeElement)) at.focus({ preventScroll: true });
  at?.scrollIntoView({ block: "nearest" });
  showPreview();
}

function entry(uid, mark, words, member) {
  const wrong = problemsOf(uid);
  const logic = member ? logicOf(member) : [];
  return h("li", { key: uid, class: member && !isEnding(member) && isBreak(member) ? "page" : "" },
    h("button", { type: "button", "data-go": uid, class: "entry", "aria-current": state.chosen === uid ? "true" : null, onclick: () => goTo(uid) },
      h("span", { class: "mark", "aria-hidden": "true" }, mark), h("span", { class: "words" }, words),
      logic.length > 0 && h("span", { class: "sign", title: logic.join("\n") }, icon("branch"), h("span", { class: "unseen" }, logic.join(". "))),
      wrong.length > 0 && h("span", { class: "sign bad", title: sentenceOf(wrong[0].message) }, icon("warn"), h("span", { class: "unseen" }, sentenceOf(wrong[0].message)))),
    member && h("span", { class: "grip", "data-drag": uid, "aria-hidden": "true", title: say("Drag to move") }, icon("drag")));
}

function outline() {
  const { fields, endings } = state.form;
  return h("nav", { class: "outline", key: "outline", "aria-label": say("Outline") },
    h("ul", { key: "form" }, entry("form", icon("mark"), state.form.title || say("Untitled"))),
    h("ol", { key: "fields", "data-sort": "fields" }, fields.map((f) => isBreak(f)
      ? entry(f._uid, icon("page"), `${say("Page {n}", { n: pageOf(f._uid) + 1 })}${f.label ? `: ${f.label}` : ""}`, f)
      : entry(f._uid, numberOf(f) || groupIcon(kindOf(f)), f.label || say(kindOf(f).title), f))),
    endings.length > 0 && h("ol", { key: "endings", class: "ends-list", "data-sort": "endings", "aria-label": say("Endings") }, endings.map((e) => entry(e._uid, icon("flag"), e.title || say("Ending"), e))),
    h("button", { type: "button", class: "small", key: "add", onclick: () => acts.palette() }, icon("plus"), say("Add a question")));
}

function panes() {
  const one = (name, mark, label) => h("button", { type: "button", "aria-pressed": `${pane === name}`, onclick: () => {
    pane = name;
    draw();
    scrollTo(0, 0);
    if (name === "preview") showPreview(true);
    if (name === "questions") card(state.chosen)?.scrollIntoView({ block: "center" });
  } }, icon(mark), h("span", null, label));
  return h("div", { class: "panes", key: "panes", role: "group", "aria-label": say("Panes") },
    one("questions", "g-form", say("Questions")), one("properties", "gear", say("Properties")), one("preview", "eye", say("Preview")));
}

// Keys work wherever in the builder one is.
function keys(event) {
  const mod = event.ctrlKey || event.metaKey;
  const key = event.key.toLowerCase();
  const inDialog = document.querySelector("dialog[open]");
  if (inDialog || event.isComposing) return;
  const member = find(event.target.closest?.("[data-go]")?.dataset.go ?? state.chosen);
  const onWhole = event.target.matches?.("[data-card], [data-go]");
  const done = (act) => { event.preventDefault(); act(); };
  if (mod && key === "z") done(() => event.shiftKey ? step(redo, say("Done again")) : step(undo, say("Undone")));
  else if (mod && key === "y") done(() => step(redo, say("Done again")));
  else if (mod && key === "d" && member) done(() => acts.duplicate(member._uid));
  else if (mod && key === "enter") done(() => acts.palette());
  else if (event.altKey && member && (key === "arrowup" || key === "arrowdown")) done(() => acts.move(member._uid, key === "arrowup" ? -1 : 1));
  else if (onWhole && member && (key === "delete" || key === "backspace")) done(() => acts.remove(member._uid));
  else if (event.target.matches?.("[data-card]") && key === "enter") done(() => canvasField(member._uid)?.focus());
  else if (key === "escape" && member && !event.target.matches?.("[data-card]") && root.contains(event.target)) done(() => card(member._uid)?.focus());
}

root.addEventListener("focusin", (event) => {
  const uid = event.target.closest("[data-uid]")?.dataset.uid;
  if (uid) choose(uid);
});
addEventListener("keydown", keys);
wide.addEventListener("change", () => draw());
draggable(root, (uid, to) => place(uid, to));
onChange(() => { draw(); schedule(); });
start({ draw, saved: () => showPreview(true) });
draw();
if (!members().length) root.querySelector(".kind")?.focus({ preventScroll: true });
