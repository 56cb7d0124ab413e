// The properties of what is chosen. The server says which there are and how each
// is set; this only knows the ways of setting.

import { data, h, icon, say, tool } from "./builder-view.js";
import {
  addOptions, change, edit, find, isBreak, isEnding, kindOf, kinds, lists, momentInput, pageOf, put, rename, revalue, settle, state, toKind, typeOf,
} from "./builder-draft.js";
import { conditionEditor, jumpsEditor } from "./builder-logic.js";
import { groupIcon, optionInput, problem, problemsAt } from "./builder-canvas.js";

let focus = () => {};
const opened = new Set(); // lists of options that show values and limits

// frame puts a name, a remark and what is wrong around a control.
function frame(p, uid, control) {
  const id = `p-${p.name}`;
  const wrong = problemsAt(`${uid}.${p.name}`).length > 0;
  const notes = [p.help && `${id}-help`, wrong && `${id}-wrong`].filter(Boolean).join(" ");
  return h("div", { class: "prop", key: p.name },
    h("label", { for: id }, say(p.label)),
    h(control.tag, { ...control.props, id, "data-at": `${uid}.${p.name}`, "aria-describedby": notes || null, "aria-invalid": wrong ? "true" : null }, control.kids),
    p.help && h("span", { class: "faint", id: `${id}-help` }, say(p.help)), problem(`${uid}.${p.name}`, `${id}-wrong`));
}
const group = (p, uid, body) => h("fieldset", { class: "prop", key: p.name }, h("legend", null, say(p.label)), body, problem(`${uid}.${p.name}`));

const numeric = (text) => text.trim() === "" || !Number.isFinite(Number(text)) ? undefined : Number(text);
const input = (type, value, set, props) => h("input", { type, value: value ?? "", dir: type === "text" ? "auto" : null, oninput: (e) => set(e.target.value), ...props });
const area = (value, set, props) => h("textarea", { rows: 2, dir: "auto", value: value ?? "", oninput: (e) => set(e.target.value), ...props });
const choose = (value, choices, set) => h("select", { value: value ?? "", onchange: (e) => set(e.target.value) }, choices.map(([v, label]) => h("option", { key: v, value: v }, label)));

// The ways of setting a property, by what the server calls them.
const ways = {
  text: (m, p, set) => frame(p, m._uid, input("text", m[p.name], (v) => set(v, true), { onblur: () => settle(m._uid) })),
  lines: (m, p, set) => frame(p, m._uid, area(m[p.name], (v) => set(v, true))),
  number: (m, p, set) => frame(p, m._uid, input("number", m[p.name], (v) => set(numeric(v), true), { step: "any", inputmode: "decimal" })),
  expression: (m, p, set) => frame(p, m._uid, area(m[p.name], (v) => set(v, true), { class: "code", spellcheck: "false", dir: "ltr" })),
  moment: (m, p, set) => frame(p, m._uid, input(momentInput(kindOf(m)), m[p.name], (v) => set(v, true))),
  switch: (m, p, set) => h("div", { class: "prop", key: p.name },
    h("label", { class: "choice" }, h("input", { type: "checkbox", role: "switch", checked: Boolean(m[p.name]), "data-at": `${m._uid}.${p.name}`, onchange: (e) => set(e.target.checked) }), h("span", null, say(p.label))),
    p.help && h("span", { class: "faint" }, say(p.help)), problem(`${m._uid}.${p.name}`)),
  options: optionsEditor,
  answer: answerEditor,
  condition: (m, p, set) => group(p, m._uid, conditionEditor({
    id: `${m._uid}.${p.name}`, lead: isEnding(m) ? say("Show this ending when") : isBreak(m) ? say("Show this page when") : say("Show this question when"),
    condition: m[p.name], before: isEnding(m) ? state.form.fields : state.form.fields.slice(0, state.form.fields.indexOf(m)), set: (c, tag) => set(c, tag),
  })),
  jumps: (m, p, set) => group(p, m._uid, jumpsEditor({ id: `${m._uid}.${p.name}`, field: m, set: (list, tag) => set(list.length ? list : undefined, tag) })),
};

function optionsEditor(m, p) {
  const uid = m._uid;
  const options = m[p.name] ?? [];
  const kind = kindOf(m);
  const capped = p.name === "options" && (kind.properties.includes("other") || kind.properties.includes("placeholder"));
  const name = `${uid}.${p.name}`;
  const move = (o, step) => change(uid, (f) => {
    const list = f[p.name];
    const at = list.findIndex((x) => x._uid === o._uid);
    list.splice(at + step, 0, ...list.splice(at, 1));
  });
  return h("fieldset", { class: "prop", key: p.name }, h("legend", null, say(p.label)),
    p.help && h("span", { class: "faint" }, say(p.help)), problem(name),
    h("ul", { class: "list" }, options.map((o, i) => h("li", { key: o._uid },
      h("div", { class: "pair" }, optionInput(uid, p.name, o, "panel", focus),
        tool("up", say("Move up"), { "aria-disabled": i === 0 ? "true" : null, onclick: () => i > 0 && move(o, -1) }),
        tool("down", say("Move down"), { "aria-disabled": i === options.length - 1 ? "true" : null, onclick: () => i < options.length - 1 && move(o, 1) }),
        tool("close", say("Remove"), { onclick: () => change(uid, (f) => { f[p.name] = f[p.name].filter((x) => x._uid !== o._uid); }) })),
      problem(`${o._uid}.label`), problem(`${o._uid}.value`), problem(`${o._uid}.cap`),
      opened.has(name) && h("div", { class: "pair detail" },
        h("label", null, say("Value"), input("text", o.value, () => {}, { oninput: null, dir: "ltr", onchange: (e) => edit((form) => {
          find(uid, form)[p.name].find((x) => x._uid === o._uid)._auto = false;
          revalue(form, uid, p.name, o._uid, e.target.value.trim());
        }) })),
        capped && h("label", null, say("At most so often"), input("number", o.cap || "", (v) => change(uid, (f) => put(f[p.name].find((x) => x._uid === o._uid), "cap", numeric(v) || undefined), `cap${o._uid}`), { min: 0, step: 1 })))))),
    h("div", { class: "pair" },
      h("button", { type: "button", class: "small", onclick: () => focus(`[data-option="panel.${addOptions(uid, p.name, null, [""])}"]`) }, icon("plus"), p.name === "rows" ? say("Add a row") : say("Add an answer")),
      h("button", { type: "button", class: "small", "aria-expanded": `${opened.has(name)}`, onclick: () => { opened[opened.has(name) ? "delete" : "add"](name); focus(); } },
        capped ? say("Values and limits") : say("Values"))));
}

// A default is an answer; for what has parts, and for consent, there is none.
function answerEditor(m, p, set) {
  const kind = kindOf(m);
  const type = typeOf(kind);
  if (type === "thing" || m.kind === "consent") return null;
  const options = (m.options ?? []).filter((o) => o.value).map((o) => [o.value, o.label]);
  if (type === "list") {
    const now = Array.isArray(m.default) ? m.default : [];
    return group(p, m._uid, options.map(([value, label]) => h("label", { class: "choice", key: value },
      h("input", { type: "checkbox", checked: now.includes(value), onchange: (e) => {
        const next = options.map(([v]) => v).filter((v) => v === value ? e.target.checked : now.includes(v));
        set(next.length ? next : undefined);
      } }), h("span", null, label))));
  }
  if (type === "choice") return frame(p, m._uid, choose(m.default, [["", say("nothing")], ...options], (v) => set(v)));
  if (type === "truth") {
    return frame(p, m._uid, choose(m.default === undefined ? "" : `${m.default}`, [["", say("nothing")], ["true", say("Yes")], ["false", say("No")]], (v) =>
      change(m._uid, (f) => { if (v) f.default = v === "true"; else delete f.default; })));
  }
  if (type === "number") return frame(p, m._uid, input("number", m.default, (v) => set(numeric(v), true), { step: "any" }));
  if (type === "moment") return frame(p, m._uid, input(momentInput(kind), m.default, (v) => set(v, true)));
  return frame(p, m._uid, m.kind === "long_text" ? area(m.default, (v) => set(v, true)) : input("text", m.default, (v) => set(v, true)));
}

// A key is taken when it stands; what speaks of it follows.
const keyEditor = (m, p) => frame(p, m._uid, input("text", m.key, () => {}, { oninput: null, dir: "ltr", spellcheck: "false", autocapitalize: "off", class: "code", onchange: (e) => {
  const key = e.target.value.trim();
  edit((form) => {
    const member = find(m._uid, form);
    member._auto = !key;
    if (key) rename(form, member, key);
  });
  settle(m._uid);
} }));

function draw(m, p) {
  if (p.name === "key") return keyEditor(m, p);
  const set = (value, tag) => change(m._uid, (x) => put(x, p.name, value), tag && p.name);
  return (ways[p.input] ?? ways.text)(m, p, set);
}

// Questions may become another kind as long as their answers stay what they are;
// before the first version, also what else chooses from a list.
function kindChoice(field) {
  const kind = kindOf(field);
  const has = (k, name) => k.properties.includes(name);
  const alike = [...kinds.values()].filter((k) => k === kind || typeOf(k) && !has(k, "expression") && !has(kind, "expression") && k.name !== "hidden" && field.kind !== "hidden" && k.name !== "consent" && field.kind !== "consent" &&
    (typeOf(k) === typeOf(kind) && typeOf(k) !== "thing" && typeOf(k) !== "moment" || state.meta.version === 0 && has(k, "options") && has(kind, "options") && has(k, "rows") === has(kind, "rows")));
  return alike.length > 1 && frame({ name: "kind", label: "Kind" }, field._uid, choose(field.kind, alike.map((k) => [k.name, say(k.title)]), (name) =>
    change(field._uid, (f) => toKind(f, kinds.get(name)))));
}

const later = new Set(["condition", "jumps"]);
function fieldPanel(field) {
  const kind = kindOf(field);
  const computed = kind.properties.includes("expression");
  const common = data.common.filter((p) => (p.name !== "required" && p.name !== "default") || kind.answered && !computed);
  const own = data.own.filter((p) => kind.properties.includes(p.name));
  const first = ["label", "help"];
  const plain = common.filter((p) => p.name !== "key" && p.name !== "default" && !later.has(p.input));
  return [
    h("header", { key: `head ${field._uid}` }, h("h2", null, groupIcon(kind), say(kind.title)), h("p", { class: "faint" }, say(kind.hint))),
    kindChoice(field),
    plain.filter((p) => first.includes(p.name)).map((p) => draw(field, isBreak(field) && p.name === "label" ? { ...p, label: "Title" } : p)),
    own.map((p) => draw(field, p)), plain.filter((p) => !first.includes(p.name)).map((p) => draw(field, p)),
    h("div", { class: "logic", key: "logic" }, h("h3", null, icon("branch"), say("Logic")), common.filter((p) => later.has(p.input)).map((p) => draw(field, p))),
    h("details", { key: "advanced" }, h("summary", null, say("Advanced")), common.filter((p) => p.name === "default" || p.name === "key").map((p) => draw(field, p))),
  ];
}

const endingProperties = () => [
  { name: "title", label: say("Title"), input: "text" }, { name: "text", label: say("Text"), help: say("Markdown; {{key}} is an answer"), input: "lines" },
  { name: "redirect", label: say("Or another page"), help: say("An address to go to instead, such as https://example.com/thanks"), input: "text" },
  { name: "show_if", label: say("Shown"), input: "condition" },
];
function endingPanel(ending) {
  return [
    h("header", { key: `head ${ending._uid}` }, h("h2", null, icon("flag"), say("Ending")), h("p", { class: "faint" }, say("The first ending whose condition holds is shown, unless a jump led to another."))),
    endingProperties().map((p) => draw(ending, p)),
    h("details", { key: "advanced" }, h("summary", null, say("Advanced")), draw(ending, { name: "key", label: say("Key"), help: say("How jumps name it"), input: "text" })),
  ];
}

// The form itself is set like a member, with its settings among the rest.
function formPanel() {
  const { form } = state;
  const whole = { _uid: "form", ...form, ...form.settings };
  const set = (name, tag) => (value) => edit((f) => { f[name] = value; }, tag && `form.${name}`);
  const setting = (name, tag) => (value) => edit((f) => put(f.settings, name, value), tag && `form.${name}`);
  const languages = data.languages.map((l) => [l.value, l.label]);
  if (!languages.some(([tag]) => tag === form.language)) languages.push([form.language, form.language]);
  return [
    h("header", { key: "head form" }, h("h2", null, icon("gear"), say("The form")), h("p", { class: "faint" }, say("Choose a question to set what belongs to it."))),
    ways.text(whole, { name: "title", label: say("Title") }, set("title", true)),
    ways.lines(whole, { name: "description", label: say("Description") }, set("description", true)),
    frame({ name: "language", label: say("Language"), help: say("In which the form’s own buttons and messages speak") }, "form", choose(form.language, languages, set("language"))),
    ways.text(whole, { name: "submit_label", label: say("Words on the last button") }, setting("submit_label", true)),
    ways.switch(whole, { name: "hide_progress", label: say("Do not say how many pages there are") }, setting("hide_progress")),
    ways.switch(whole, { name: "ask_again", label: say("Offer to answer once more") }, setting("ask_again")),
  ];
}

export function panel(acts) {
  focus = acts.focus;
  const member = find(state.chosen);
  return h("section", { class: "panel", key: "panel", "aria-label": say("Properties"), tabindex: -1 },
    h("div", { key: state.chosen }, !member ? formPanel() : isEnding(member) ? endingPanel(member) : fieldPanel(member)));
}
