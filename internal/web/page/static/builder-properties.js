// Properties: the server says which there are, this knows the ways of setting them.

import { data, h, icon, say, select, small, tool } from "./vdom.js";
import { change, changeOption, edit, find, has, isBreak, isEnding, kindOf, kinds, numberOf, piped, put, rename, revalue, settle, state, toKind } from "./builder-state.js";
import { conditionEditor, jumpsEditor, nameOf } from "./builder-logic.js";
import { addOption, groupIcon, optionInput, problemsAt } from "./builder-canvas.js";

let focus;
const opened = new Set(); // lists of options that show values and limits

// Nobody needs to know the keys of answers: they are put in from a list.
function inserting(m, p) {
  const { fields, endings } = state.form;
  const code = p.input === "expression";
  const known = (fields.includes(m) ? fields.slice(0, fields.indexOf(m)) : endings.includes(m) ? fields : []).filter((f) => kindOf(f).answered);
  if (!known.length || !code && (!piped.includes(p.name) || p.name === "help")) return null;
  return select("", [["", say("Insert answer")], ...known.map((f) => [f.key, `${numberOf(f) ? `${numberOf(f)}. ` : ""}${nameOf(f)}`])], (key) => {
    const { value, selectionStart: from, selectionEnd: to } = document.getElementById(`p-${p.name}`);
    const words = code ? key : `{{${key}}}`;
    change(m._uid, (x) => put(x, p.name, code && value.trim() === "0" ? words : value.slice(0, from) + words + value.slice(to)));
  }, { class: "known", "aria-label": say("Insert answer") });
}

function frame(m, p, control) {
  const id = `p-${p.name}`;
  const problems = problemsAt(`${m._uid}.${p.name}`, `${id}-wrong`);
  Object.assign(control.props, { id, "aria-describedby": `${id}-help ${id}-wrong`, "aria-invalid": problems.length ? "true" : null });
  return h("div.prop", { key: p.name }, h("label", { for: id }, say(p.label)), control, inserting(m, p), p.help && h("span.muted", { id: `${id}-help` }, say(p.help)), problems);
}
const group = (m, p, ...body) => h("fieldset.prop", { key: p.name }, h("legend", say(p.label)), body, problemsAt(`${m._uid}.${p.name}`));

const numeric = (text) => text.trim() && Number.isFinite(Number(text)) ? Number(text) : undefined;
const whole = (n) => n === undefined ? n : Math.floor(n);
const input = (type, value, set, props) => h("input", { type, step: "any", dir: type === "text" ? "auto" : null, value, oninput: (e) => set(type === "number" ? numeric(e.target.value) : e.target.value, true), ...props });
const area = (value, set, props) => h("textarea", { rows: 2, dir: "auto", value, oninput: (e) => set(e.target.value, true), ...props });
const tick = (checked, label, set) => h("label.choice", { key: label }, h("input", { type: "checkbox", checked, onchange: (e) => set(e.target.checked) }), h("span", label));

const ways = {
  text: (m, p, set) => frame(m, p, input("text", m[p.name], set, { onblur: () => settle(m._uid) })),
  lines: (m, p, set) => frame(m, p, area(m[p.name], set)),
  number: (m, p, set) => frame(m, p, input("number", m[p.name], set)),
  whole: (m, p, set) => frame(m, p, input("number", m[p.name], (n, tag) => set(whole(n), tag), { step: 1 })),
  expression: (m, p, set) => frame(m, p, area(m[p.name], set, { class: "code", spellcheck: "false", dir: "ltr" })),
  moment: (m, p, set) => frame(m, p, input(kindOf(m).input, m[p.name], set)),
  switch: (m, p, set) => h("div.prop", { key: p.name }, tick(m[p.name], say(p.label), set), p.help && h("span.muted", say(p.help)), problemsAt(`${m._uid}.${p.name}`)),
  condition: (m, p, set) => group(m, p, conditionEditor({
    lead: isEnding(m) ? say("Show this ending if") : isBreak(m) ? say("Show this page if") : say("Show this question if"),
    condition: m[p.name], before: isEnding(m) ? state.form.fields : state.form.fields.slice(0, state.form.fields.indexOf(m)), set,
  })),
  jumps: (m, p, set) => group(m, p, jumpsEditor(m, (list, tag) => set(list.length ? list : undefined, tag))),

  // A key is taken when it stands; what speaks of it follows.
  key: (m, p) => frame(m, p, input("text", m.key, null, { oninput: null, dir: "ltr", class: "code", spellcheck: "false", onchange: ({ target }) => {
    const key = target.value.trim();
    edit((form) => {
      const member = find(m._uid, form);
      member._auto = !key;
      if (key) rename(member, key, form);
    });
    settle(m._uid);
  } })),

  options(m, p) {
    const { _uid: uid, [p.name]: list = [] } = m;
    const kind = kindOf(m);
    const name = `${uid}.${p.name}`;
    const capped = p.name === "options" && kind.limits;
    const to = (o, i) => change(uid, (f) => {
      const rest = f[p.name].filter((x) => x._uid !== o._uid);
      f[p.name] = i === undefined ? rest : rest.toSpliced(i, 0, o);
    });
    const off = (is) => is ? { "aria-disabled": "true", onclick: null } : null;
    return group(m, p, p.help && h("span.muted", say(p.help)),
      h("ul.list", list.map((o, i) => h("li", { key: o._uid },
        h("div.pair", optionInput(uid, p.name, o, "panel", focus), tool("up", say("Move up"), () => to(o, i - 1), off(!i)),
          tool("down", say("Move down"), () => to(o, i + 1), off(i === list.length - 1)), tool("close", say("Remove"), () => to(o))),
        ["label", "value", "cap"].map((part) => problemsAt(`${o._uid}.${part}`)),
        opened.has(name) && h("div.pair.detail",
          h("label", say("Value"), input("text", o.value, null, { oninput: null, dir: "ltr", onchange: ({ target }) => edit((form) => {
            const field = find(uid, form);
            const mine = field[p.name].find((x) => x._uid === o._uid);
            mine._auto = false;
            revalue(field, p.name, mine, target.value.trim(), form);
          }) })),
          capped && h("label", say("Limit"), input("number", o.cap, (n) => changeOption(uid, p.name, o._uid, (x) => put(x, "cap", whole(n) || undefined), "cap"), { min: 0, step: 1 })))))),
      h("div.pair", addOption(uid, p.name, "panel", focus),
        small("", capped ? say("Values and limits") : say("Edit values"), () => { opened.delete(name) || opened.add(name); focus(); }, { "aria-expanded": `${opened.has(name)}` })));
  },

  // A default is an answer; for what has parts, and for consent, there is none.
  answer(m, p, set) {
    const kind = kindOf(m);
    const { type } = kind;
    if (!kind.default) return null;
    const choices = m.options?.filter((o) => o.value).map((o) => [o.value, o.label]);
    const now = m.default ?? [];
    if (type === "list") {
      return group(m, p, choices.map(([value, label]) => tick(now.includes(value), label, (on) => {
        const next = choices.map(([v]) => v).filter((v) => v === value ? on : now.includes(v));
        set(next.length ? next : undefined);
      })));
    }
    if (type === "choice") return frame(m, p, select(m.default, [["", say("none")], ...choices], set));
    if (type === "truth") {
      return frame(m, p, select(m.default, [["", say("none")], [true, say("Yes")], [false, say("No")]], (v) => change(m._uid, (f) => { f.default = v ? v === "true" : undefined; })));
    }
    return frame(m, p, kind.multiline ? area(m.default, set) : input(kind.input, m.default, set));
  },
};

const setter = (m, name) => (value, tag) => change(m._uid, (x) => put(x, name, value), tag && `${name}${tag}`);
const draw = (m, p) => (ways[p.name === "key" ? "key" : p.input] ?? ways.text)(m, p, setter(m, p.name));

// A question may become another kind as long as its answers stay what they are.
function kindChoice(field) {
  const sort = (k) => ({ text: k.hidden ? "" : "text", number: "number", choice: "choice", list: state.meta.version ? "" : "choice" })[k.type];
  const alike = data.kinds.filter((k) => sort(k) && sort(k) === sort(kindOf(field)));
  return alike.length > 1 && frame(field, { name: "kind", label: say("Question type") }, select(field.kind, alike.map((k) => [k.name, say(k.title)]), (name) => change(field._uid, (f) => toKind(f, kinds.get(name)))));
}

const title = (mark, name, hint) => h("header", { key: "head" }, h("h2", mark, name), h("p.muted", hint));
const advanced = (...props) => h("details", { key: "advanced" }, h("summary", say("Advanced")), props);

function fieldPanel(field) {
  const kind = kindOf(field);
  const answers = kind.answered && !has(kind, "expression");
  const common = data.common.filter((p) => answers || !["required", "default"].includes(p.name));
  const part = (p) => ["condition", "jumps"].includes(p.input) ? "logic" : ["key", "default"].includes(p.name) ? "advanced" : p.name === "required" ? "last" : "first";
  const of = (name) => common.filter((p) => part(p) === name).map((p) => draw(field, p));
  return [
    title(groupIcon(kind), say(kind.title), say(kind.hint)), kindChoice(field),
    of("first"), data.own.filter((p) => has(kind, p.name) && !kind.fixed.includes(p.name)).map((p) => draw(field, p)), of("last"),
    h("div.logic", { key: "logic" }, h("h3", icon("branch"), say("Logic")), of("logic")), advanced(of("advanced")),
  ];
}

function endingPanel(e) {
  const one = (name, way, label, help) => draw(e, { name, input: way, label, help });
  return [
    title(icon("flag"), say("Ending"), say("Respondents see the first ending whose condition is true, unless a jump sends them to another one.")),
    one("title", "text", say("Title")), one("text", "lines", say("Text"), say("Markdown supported. Use {{key}} to insert an answer.")),
    one("redirect", "text", say("Redirect to"), say("Redirect to this address instead of showing a message, such as https://example.com/thanks")),
    one("show_if", "condition", say("Visibility")), advanced(one("key", "text", say("Key"), say("Identifies this ending in jumps and in the API"))),
  ];
}

function formPanel({ form }) {
  const m = { _uid: "form", ...form, ...form.settings };
  const one = (name, way, label, help) => way(m, { name, label, help }, (value, tag) =>
    edit((f) => name in f ? f[name] = value : put(f.settings, name, value), tag && `form.${name}`));
  const languages = data.languages.map((l) => [l.value, l.label]);
  if (!languages.some(([tag]) => tag === form.language)) languages.push([form.language, form.language]);
  return [
    title(icon("gear"), say("Form settings"), say("Select a question to edit its settings.")),
    one("title", ways.text, say("Title")), one("description", ways.lines, say("Description")),
    one("language", (x, p, set) => frame(x, p, select(form.language, languages, set)), say("Language"), say("Used for buttons and messages on the form")),
    one("submit_label", ways.text, say("Submit button text")),
    one("hide_progress", ways.switch, say("Hide progress")), one("ask_again", ways.switch, say("Allow another response")),
  ];
}

export function panel(acts) {
  ({ focus } = acts);
  const m = find(state.chosen);
  return h("section.panel", { key: "panel", "aria-label": say("Properties"), tabindex: -1 },
    h("div", { key: state.chosen }, !m ? formPanel(state) : isEnding(m) ? endingPanel(m) : fieldPanel(m)));
}
