// The questions in place: the form as a page, on which everything can be written.

import { data, h, icon, say, sentenceOf, tool } from "./builder-view.js";
import {
  addOptions, change, edit, find, isBreak, isEnding, kindOf, numberOf, pageOf, put, settle, settleOption, state, typeOf,
} from "./builder-draft.js";
import { logicOf, nameOf } from "./builder-logic.js";

export const problemsAt = (at) => state.problems.filter((p) => p.at === at);
export const problemsOf = (uid) => state.problems.filter((p) => p.owner === uid);
export const problem = (at, id) => problemsAt(at).map((p) => h("p", { class: "wrong", id }, icon("warn"), h("span", null, sentenceOf(p.message))));

// write is a text that is edited where it stands.
function write(label, value, set, props) {
  const { lines, ...rest } = props;
  return h("textarea", {
    rows: 1, dir: "auto", "aria-label": label, placeholder: label, value, ...rest,
    oninput: (e) => set(lines ? e.target.value : e.target.value.replace(/\s*\n\s*/g, " ")),
    onkeydown: (e) => { if (!lines && e.key === "Enter" && !e.isComposing) { e.preventDefault(); rest.onenter?.(); } },
    onenter: null,
  });
}
const writeOf = (uid, name, label, value, props) =>
  write(label, value ?? "", (text) => change(uid, (m) => put(m, name, text), name), { "data-at": `${uid}.${name}`, onblur: () => settle(uid), ...props });

// Options, here and in the panel: Enter adds one, Backspace in an empty one takes
// it away, and a pasted list becomes as many.
export function optionInput(uid, list, o, place, focus) {
  const at = (id) => `[data-option="${place}.${id}"]`;
  const beside = (step) => {
    const all = find(uid)[list];
    return all[all.findIndex((x) => x._uid === o._uid) + step]?._uid;
  };
  return h("input", {
    class: "write", dir: "auto", "data-option": `${place}.${o._uid}`, "aria-label": say("Answer"), placeholder: say("Answer"), value: o.label,
    "aria-invalid": problemsAt(`${o._uid}.label`).length ? "true" : null, maxlength: 1000,
    oninput: (e) => change(uid, (f) => { f[list].find((x) => x._uid === o._uid).label = e.target.value; }, o._uid),
    onblur: () => settleOption(uid, list, o._uid),
    onpaste: (e) => {
      const lines = e.clipboardData.getData("text").split(/\r?\n/).map((line) => line.trim()).filter(Boolean).slice(0, 1000);
      if (lines.length < 2) return;
      e.preventDefault();
      let rest = lines;
      if (!e.target.value.trim()) {
        change(uid, (f) => { f[list].find((x) => x._uid === o._uid).label = lines[0]; });
        settleOption(uid, list, o._uid);
        rest = lines.slice(1);
      }
      focus(at(addOptions(uid, list, o._uid, rest)));
    },
    onkeydown: (e) => {
      if (e.altKey || e.isComposing) return;
      if (e.key === "Enter") { e.preventDefault(); focus(at(addOptions(uid, list, o._uid, [""]))); }
      if (e.key === "Backspace" && e.target.value === "" && find(uid)[list].length > 1) {
        e.preventDefault();
        const to = beside(-1) ?? beside(1);
        change(uid, (f) => { f[list] = f[list].filter((x) => x._uid !== o._uid); });
        focus(at(to));
      }
      if (e.key === "ArrowUp" && beside(-1)) { e.preventDefault(); focus(at(beside(-1))); }
      if (e.key === "ArrowDown" && beside(1)) { e.preventDefault(); focus(at(beside(1))); }
    },
  });
}

const most = 20; // options in place; the rest are in the panel
function optionsInPlace(field, list, mark, focus) {
  const options = field[list] ?? [];
  return h("ul", { class: `options ${mark}`, key: list, "aria-label": say(data.own.find((p) => p.name === list)?.label ?? list) },
    options.slice(0, most).map((o, i) => h("li", { key: o._uid },
      h("span", { class: "mark", "aria-hidden": "true" }, mark === "ranked" && `${i + 1}`), optionInput(field._uid, list, o, "here", focus))),
    options.length > most && h("li", { class: "faint", key: "rest" }, say("and {n} more", { n: options.length - most })),
    field.other && list === "options" && h("li", { class: "faint", key: "other" }, h("span", { class: "mark", "aria-hidden": "true" }), h("span", null, say("Other"), " …")),
    h("li", { key: "add" }, h("button", {
      type: "button", class: "small", onclick: () => focus(`[data-option="here.${addOptions(field._uid, list, options[most - 1]?._uid, [""])}"]`),
    }, icon("plus"), list === "rows" ? say("Add a row") : say("Add an answer"))));
}

// How a question looks in essence. What is not drawn here is drawn as a line to
// write on, so a new kind has a picture, too.
const line = (text, more = "") => h("div", { class: `line ${more}`, "aria-hidden": "true" }, text);
const whole = (field) => Array.from({ length: Math.min(11, Math.max(1, (field.max ?? 5) - (field.min ?? 1) + 1)) }, (_, i) => (field.min ?? 1) + i);
const ends = (field) => (field.low || field.high) && h("div", { class: "between", "aria-hidden": "true" }, h("span", null, field.low), h("span", null, field.high));
const pills = (list) => h("div", { class: "pills", "aria-hidden": "true" }, list.map((text) => h("span", null, text)));
const pictures = {
  long_text: (f) => line(f.placeholder, "tall"),
  yes_no: () => pills([say("Yes"), say("No")]),
  consent: (f) => h("div", { class: "tick" }, h("span", { class: "mark", "aria-hidden": "true" }), text(f)),
  rating: (f) => [h("div", { class: "stars-drawn", "aria-hidden": "true" }, whole(f).map(() => "★")), ends(f)],
  scale: (f) => [pills(whole({ min: 0, max: 10, ...f })), ends(f)],
  slider: (f) => [h("div", { class: "track", "aria-hidden": "true" }, h("span", null)), h("div", { class: "between", "aria-hidden": "true" }, h("span", null, f.low || `${f.min ?? 0}`), h("span", null, f.high || `${f.max ?? 100}`))],
  name: () => h("div", { class: "side" }, line(say("First name")), line(say("Last name"))),
  address: () => [line(say("Street and number")), h("div", { class: "side" }, line(say("Postal code")), line(say("Town")))],
  country: (f) => line(f.placeholder || say("Choose…"), "opens"),
  hidden: (f) => h("p", { class: "faint" }, say("Comes with the link"), " ", h("code", null, `?${f.key}=…`)),
};
const text = (f) => writeOf(f._uid, "text", say("Text"), f.text, { class: "write prose", lines: true });
function picture(field, focus) {
  const kind = kindOf(field);
  const has = (name) => kind.properties.includes(name);
  if (pictures[field.kind]) return pictures[field.kind](field);
  if (has("options")) {
    const mark = typeOf(kind) === "list" ? "boxes" : field.kind === "ranking" ? "ranked" : field.kind === "dropdown" ? "opens" : "rounds";
    return has("rows") ? h("div", { class: "side" }, optionsInPlace(field, "rows", "plain", focus), optionsInPlace(field, "options", field.several ? "boxes" : "rounds", focus))
      : optionsInPlace(field, "options", mark, focus);
  }
  if (has("expression")) return h("p", { class: "sum" }, h("code", null, field.expression), field.unit && ` ${field.unit}`);
  if (has("text")) return text(field);
  return h("div", { class: "with-unit" }, line(field.placeholder || (has("earliest") ? say(kind.title) : ""), has("earliest") || has("step") ? "brief" : ""), field.unit && h("span", { class: "faint" }, field.unit));
}

function handles(member, acts) {
  const uid = member._uid;
  return h("div", { class: "handles", key: "handles" },
    h("button", { type: "button", class: "tool grip", "data-drag": uid, tabindex: -1, "aria-hidden": "true", title: say("Drag to move") }, icon("drag")),
    tool("up", say("Move up"), { onclick: () => acts.move(uid, -1) }), tool("down", say("Move down"), { onclick: () => acts.move(uid, 1) }),
    tool("copy", say("Duplicate"), { onclick: () => acts.duplicate(uid) }), tool("trash", say("Delete"), { onclick: () => acts.remove(uid) }));
}

const groupIcon = (kind) => icon({ Text: "g-text", Numbers: "g-number", Choices: "g-choice", Dates: "g-date", People: "g-person" }[kind.group] ?? "g-form");
export { groupIcon };

function card(member, acts) {
  const uid = member._uid;
  const ending = isEnding(member);
  const kind = !ending && kindOf(member);
  const chosen = state.chosen === uid;
  const what = ending ? say("Ending") : isBreak(member) ? say("Page {n}", { n: pageOf(uid) + 1 }) : say(kind.title);
  const name = ending ? "title" : "label";
  const wrong = problemsOf(uid);
  const number = !ending && numberOf(member);
  return h("li", { key: uid, "data-uid": uid, class: isBreak(member) ? "break" : "" },
    h("article", { class: `card${chosen ? " chosen" : ""}${wrong.length ? " bad" : ""}`, tabindex: 0, "data-card": uid, "aria-label": `${what}: ${nameOf(member)}` },
      h("div", { class: "over" }, number && h("span", { class: "place" }, number), isBreak(member) ? h("strong", null, what) : [ending ? icon("flag") : groupIcon(kind), h("span", null, what)]),
      h("div", { class: "asks" }, writeOf(uid, name, ending ? say("Title of the ending") : isBreak(member) ? say("Title of the page, or nothing") : kind.answered ? say("What do you want to ask?") : say("Heading, or nothing"),
        member[name], { class: `write ${isBreak(member) || ending ? "heading" : "question"}`, maxlength: 1000, onenter: () => acts.enter(uid) }),
      member.required && h("span", { class: "needed", title: say("An answer is needed") }, "*")),
      member.help && writeOf(uid, "help", say("Help"), member.help, { class: "write help", lines: true }),
      ending ? member.redirect ? h("p", { class: "faint" }, "→ ", member.redirect) : writeOf(uid, "text", say("Text"), member.text, { class: "write prose", lines: true })
        : !isBreak(member) && h("div", { class: "picture" }, picture(member, acts.focus)),
      logicOf(member).map((words) => h("p", { class: "logic-line" }, icon("branch"), h("span", null, words))),
      wrong.map((p) => h("p", { class: "wrong" }, icon("warn"), h("span", null, sentenceOf(p.message)))),
      handles(member, acts),
      chosen && !ending && h("button", { type: "button", class: "insert", key: "insert", "aria-label": say("Add a question after this one"), title: say("Add a question after this one"), onclick: () => acts.palette() }, icon("plus"))));
}

// A card is drawn again only when something that it shows has changed.
const drawn = new Map();
function cached(member, acts, logic) {
  const sign = `${JSON.stringify(member)} ${logic} ${numberOf(member)} ${pageOf(member._uid)} ${state.chosen === member._uid} ${JSON.stringify(problemsOf(member._uid))}`;
  const was = drawn.get(member._uid);
  if (was?.sign === sign) return was.card;
  const fresh = card(member, acts);
  drawn.set(member._uid, { sign, card: fresh });
  return fresh;
}

export function canvas(acts, palette) {
  const { form } = state;
  const whole = (name, label, props) => write(label, form[name] ?? "", (text) => edit((f) => { f[name] = text; }, `form.${name}`), { "data-at": `form.${name}`, ...props });
  const logic = (m) => logicOf(m).join("\n");
  return h("section", { class: "canvas", key: "canvas", "aria-label": say("Questions") },
    h("header", { class: `leaf-head${state.chosen === "form" ? " chosen" : ""}`, "data-uid": "form" },
      whole("title", say("Title of the form"), { class: "write title", maxlength: 200 }), problem("form.title"),
      whole("description", say("A few words about it, or nothing"), { class: "write lead", lines: true }), problem("form.description"), problem("form.fields")),
    form.fields.length ? h("ol", { class: "questions", key: "questions", "data-sort": "fields" }, form.fields.map((f) => cached(f, acts, logic(f))))
      : h("div", { class: "first", key: "first" }, h("h2", null, say("What would you like to ask first?")), h("p", { class: "faint" }, say("Choose a kind of question. You can change everything later.")), palette),
    h("div", { class: "more", key: "more" },
      form.fields.length > 0 && h("button", { type: "button", class: "primary", key: "add", onclick: () => acts.palette() }, icon("plus"), say("Add a question")),
      form.fields.length > 0 && h("button", { type: "button", key: "page", onclick: () => acts.addPage() }, icon("page"), say("Add a page")),
      form.fields.length > 0 && h("button", { type: "button", key: "ending", onclick: () => acts.addEnding() }, icon("flag"), say("Add an ending"))),
    form.endings.length > 0 ? h("ol", { class: "endings", key: "endings", "data-sort": "endings", "aria-label": say("Endings") }, form.endings.map((e) => cached(e, acts, logic(e))))
      : form.fields.length > 0 && h("p", { class: "faint after", key: "after" }, say("At the end people read “Thank you”. Add an ending to say something of your own.")));
}
