// The builder: what it is made of, and what can be done with it.

import { announce, dialog, h, icon, mount, quote, say, small, tool } from "./vdom.js";
import { begin, beginEnding, edit, find, future, guarded, isBreak, kindOf, kinds, listOf, numberOf, onChange, pageOf, past, state, travel, twin } from "./builder-state.js";
import { logicOf, nameOf } from "./builder-logic.js";
import { canvas, groupIcon, openPalette, pageName, problemsOf } from "./builder-canvas.js";
import { panel } from "./builder-properties.js";
import { publish, schedule, start, status } from "./builder-save.js";
import { draggable } from "./builder-drag.js";

const root = document.getElementById("builder");
const paint = mount(root);
let pane = "questions"; // on a phone, one at a time
let previewing = false;
let width = "desk"; // of the preview
let shown = -1; // the page in it

const desk = matchMedia("(min-width: 62rem)");
const wide = matchMedia("(min-width: 100rem)");

function draw(gently) {
  Object.assign(root.dataset, { pane, preview: previewing });
  paint([tools(), h("div.desk", { key: "desk" }, outline(), canvas(acts), (previewing || pane === "preview") && preview(), panel(acts)), panes()], gently);
  const heading = document.querySelector(".form-head h1")?.firstChild;
  if (heading?.data) heading.data = `${state.form.title} `;
}

const card = (uid) => root.querySelector(`[data-card="${uid}"]`) ?? root.querySelector(".title");
const words = (uid) => card(uid).querySelector(".asks textarea") ?? card(uid);

function focus(selector) {
  draw();
  if (selector) root.querySelector(selector)?.focus();
}

function choose(uid) {
  if (state.chosen === uid) return;
  state.chosen = uid;
  draw();
  showPreview();
}

function goTo(uid, write) {
  pane = "questions";
  if (write && !wide.matches) previewing = false;
  choose(uid);
  draw();
  const el = write ? words(uid) : card(uid);
  el.focus({ preventScroll: true });
  if (write) el.select?.();
  card(uid).scrollIntoView({ block: write ? "nearest" : "center" });
}

function insert(member, after, said) {
  edit((form) => {
    const list = listOf(member, form);
    const at = list.findIndex((m) => m._uid === after) + 1;
    list.splice(at || list.length, 0, member);
  });
  goTo(member._uid, true);
  announce(said);
}
const addAfter = (uid) => (kind) => insert(begin(kind), uid, say("{kind} added", { kind: say(kind.title) }));
const add = (kind) => addAfter(state.chosen)(kind);
const append = addAfter("");

async function referring(broken) {
  const how = { show_if: say("has a condition that uses it"), jumps: say("has a jump that uses it"), expression: say("uses it in a calculation") };
  const lines = new Set(broken.map((d) => `${quote(nameOf(d.member))} ${how[d.how] ?? say("inserts its answer in its text")}`));
  return await dialog(say("This is used elsewhere in the form"), [
    h("p", say("If you continue, these references are removed:")), h("ul.changes", [...lines].map((line) => h("li", icon("branch"), h("span", line)))),
  ], [["yes", say("Remove and continue"), { class: "danger" }], ["", say("Cancel"), { autofocus: true }]]) === "yes";
}

// To nowhere is away.
const place = (member, to) => guarded((form) => {
  const list = listOf(member, form);
  const [it] = list.splice(list.findIndex((m) => m._uid === member._uid), 1);
  if (to !== undefined) list.splice(to, 0, it);
}, referring);

async function move(uid, to) {
  const member = find(uid);
  const list = listOf(member);
  if (to < 0 || to >= list.length || list[to] === member || !(await place(member, to))) return;
  announce(say("Moved to position {n} of {all}", { n: to + 1, all: list.length }));
  card(uid).scrollIntoView({ block: "nearest" });
}

const acts = {
  focus,
  add,
  palette: () => openPalette(add),
  paletteAtEnd: () => openPalette(append),
  addPage: () => append([...kinds.values()].find((kind) => kind.break)),
  addEnding: () => insert(beginEnding(), "", say("{kind} added", { kind: say("Ending") })),
  move: (uid, step) => move(uid, listOf(find(uid)).indexOf(find(uid)) + step),
  duplicate: (uid) => insert(twin(find(uid)), uid, say("Duplicated")),
  async remove(uid) {
    const list = listOf(find(uid));
    const at = list.indexOf(find(uid));
    const next = list[at + 1] ?? list[at - 1];
    if (!(await place(find(uid)))) return;
    goTo(next?._uid ?? "form");
    announce(say("Deleted. You can undo this."));
  },
  // Enter in a question goes on to its answers.
  enter: (uid) => card(uid).querySelector("[data-option]")?.focus(),
};

function step(from, to, said) {
  if (!travel(from, to)) return;
  announce(said);
  const here = document.activeElement.closest("[data-uid], body").dataset.uid;
  if (here !== state.chosen && !document.activeElement.closest(".panel, .tools")) card(state.chosen).focus({ preventScroll: true });
  card(state.chosen).scrollIntoView({ block: "nearest" });
}
const undo = () => step(past, future, say("Undone"));
const redo = () => step(future, past, say("Redone"));

function tools() {
  const off = (list) => ({ "aria-disabled": list.length ? null : "true" });
  const shown = (is) => ({ "aria-pressed": `${is}` });
  return h("div.tools", { key: "tools", role: "toolbar", "aria-label": say("Builder") },
    tool("undo", say("Undo"), undo, off(past)), tool("redo", say("Redo"), redo, off(future)),
    h(`span.state.${status.kind}`, icon({ saved: "check", saving: "again" }[status.kind] ?? "warn"),
      status.kind === "signin" ? h("a", { href: "/signin", target: "_blank" }, status.text) : h("span", status.text)),
    h("button.quiet.show", { ...shown(previewing), onclick: () => { previewing = !previewing; draw(); showPreview(true); } }, icon("eye"), h("span", say("Preview"))),
    h("button.quiet", { ...shown(state.chosen === "form"), onclick: () => { if (!desk.matches) pane = "properties"; choose("form"); focus(".panel"); } }, icon("gear"), h("span", say("Settings"))),
    h("button.primary", { onclick: () => publish(goTo) }, say("Publish")));
}

function entry(uid, mark, words, m) {
  const problem = problemsOf(uid)[0];
  const logic = m && logicOf(m).join(". ");
  return h(m && isBreak(m) ? "li.page" : "li", { key: uid },
    h("button.entry", { "data-go": uid, "aria-current": state.chosen === uid ? "true" : null, onclick: () => goTo(uid) },
      h("span.mark", { "aria-hidden": "true" }, mark), h("span.words", words),
      logic && h("span.sign", { title: logic }, icon("branch"), h("span.visually-hidden", logic)), problem && h("span.sign.bad", { title: problem.message }, icon("warn"), h("span.visually-hidden", problem.message))),
    m && h("span.grip", { "data-drag": uid, title: say("Drag to move") }, icon("drag")));
}

function outline() {
  const { title, fields, endings } = state.form;
  return h("nav.outline", { key: "outline", "aria-label": say("Outline") },
    h("ul", { key: "form" }, entry("form", icon("mark"), title || say("Untitled"))),
    h("ol", { key: "fields", "data-sort": "fields" }, fields.map((f) => isBreak(f) ? entry(f._uid, icon("page"), pageName(f._uid) + (f.label ? `: ${f.label}` : ""), f)
      : entry(f._uid, numberOf(f) || groupIcon(kindOf(f)), f.label || say(kindOf(f).title), f))),
    h("ol", { key: "endings", "data-sort": "endings" }, endings.map((e) => entry(e._uid, icon("flag"), e.title || say("Ending"), e))),
    small("plus", say("Add question"), acts.paletteAtEnd));
}

// The preview is the public page of the saved draft.
function showPreview(again) {
  const frame = document.querySelector(".preview iframe");
  if (!frame?.offsetParent) return;
  const page = pageOf(state.chosen);
  const toQuestion = () => frame.contentDocument?.getElementById(find(state.chosen)?.key)?.closest(".question")?.scrollIntoView({ block: "nearest" });
  if (!again && shown === page) return toQuestion();
  const at = () => frame.contentDocument?.documentElement ?? {}; // what could not be loaded is not ours
  const top = shown === page ? at().scrollTop : 0;
  shown = page;
  frame.onload = () => { at().scrollTop = top; if (!top) toQuestion(); };
  frame.contentWindow.location.replace(`/forms/${state.meta.id}/preview?page=${page}`);
}

function preview() {
  const size = (name, label) => tool(name, label, () => { width = name; draw(); }, { "aria-pressed": `${width === name}` });
  return h(`section.preview${width === "phone" ? ".phone" : ""}`, { key: "preview", "aria-label": say("Preview") },
    h("div.pair", h("span.muted", say("This is what respondents see. Test responses are not saved.")),
      size("desk", say("Desktop")), size("phone", say("Phone")), tool("again", say("Reload preview"), () => showPreview(true))),
    h("iframe", { title: say("Preview") }));
}

function panes() {
  const one = (name, mark, label) => h("button", { "aria-pressed": `${pane === name}`, onclick: () => {
    pane = name;
    draw();
    scrollTo(0, 0);
    showPreview(true);
    if (name === "questions") card(state.chosen).scrollIntoView({ block: "center" });
  } }, icon(mark), h("span", label));
  return h("div.panes", { key: "panes", role: "group", "aria-label": say("Views") },
    one("questions", "g-form", say("Questions")), one("properties", "gear", say("Properties")), one("preview", "eye", say("Preview")));
}

addEventListener("keydown", (event) => {
  if (event.isComposing || document.querySelector("dialog[open]")) return;
  const { target } = event;
  const uid = target.closest("[data-go]")?.dataset.go ?? target.closest("[data-uid]")?.dataset.uid ?? state.chosen;
  const member = find(uid);
  const onCard = target.matches("[data-card]");
  const key = (event.ctrlKey || event.metaKey ? "mod " : event.altKey ? "alt " : "") + (event.shiftKey ? "shift " : "") + event.key.toLowerCase();
  const act = {
    "mod z": undo, "mod shift z": redo, "mod y": redo, "mod enter": acts.palette,
    ...member && { "mod d": () => acts.duplicate(uid), "alt arrowup": () => acts.move(uid, -1), "alt arrowdown": () => acts.move(uid, 1) },
    ...member && (onCard || target.matches("[data-go]")) && { delete: () => acts.remove(uid), backspace: () => acts.remove(uid) },
    ...onCard && { enter: () => words(uid).focus() },
    ...member && !onCard && root.contains(target) && { escape: () => card(uid).focus() },
  }[key];
  if (!act) return;
  event.preventDefault();
  act();
});
root.addEventListener("focusin", (event) => choose(event.target.closest("[data-uid]")?.dataset.uid ?? state.chosen));
draggable(root, move);
onChange(() => { draw(); schedule(); });
start([draw, () => showPreview(true)]);
draw();
