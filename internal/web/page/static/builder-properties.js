// The properties panel. The server lists the properties; this file has an editor for each
// type of them.

import { h, icon, iconButton, linkButton, select, t } from "./vdom.js";
import {
  assignAutoKey, edit, findMember, hasProperty, isEnding, isPageBreak, kindOf, pipedProperties, questionNumber,
  renameKey, renameValue, setProperty, state, updateMember, updateOption,
} from "./builder-state.js";
import { conditionEditor, jumpsEditor } from "./builder-conditions.js";
import { formulaEditor } from "./builder-formula.js";
import { displayName } from "./builder-logic.js";
import { commonProperties, formLanguages, kindProperties } from "./builder-fields.js";
import { kindTexts } from "./builder-kinds.js";
import { addOptionButton, chipsInput, isAsked, kindIcon, kindSelect, optionInput, problemsAt } from "./builder-canvas.js";

document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/static/builder-properties.css" }));

let focus;
const expandedLists = new Set(); // option lists that show values and limits

// insertAnswerMenu inserts the key of an earlier answer into a text or a formula.
function insertAnswerMenu(member, property) {
  const { fields, endings } = state.form;
  const isFormula = property.input === "expression";
  const answers = (fields.includes(member) ? fields.slice(0, fields.indexOf(member)) : endings.includes(member) ? fields : []).filter((f) => kindOf(f).has_answer);
  if (!answers.length || !isFormula && (!pipedProperties.includes(property.name) || property.name === "help")) return null;
  return select("", [["", t("Insert answer")], ...answers.map((f) => [f.key, `${questionNumber(f) ? `${questionNumber(f)}. ` : ""}${displayName(f)}`])], (key) => {
    const { value, selectionStart, selectionEnd } = document.getElementById(`p-${property.name}`);
    const inserted = isFormula ? key : `{{${key}}}`;
    updateMember(member._uid, (m) => setProperty(m, property.name,
      isFormula && value.trim() === "0" ? inserted : value.slice(0, selectionStart) + inserted + value.slice(selectionEnd)));
  }, { class: "insert-answer", "aria-label": t("Insert answer") });
}

function labeled(member, property, control) {
  const id = `p-${property.name}`;
  const problems = problemsAt(`${member._uid}.${property.name}`, `${id}-problem`);
  Object.assign(control.props, { id, "aria-describedby": `${id}-help ${id}-problem`, "aria-invalid": problems.length ? "true" : null });
  return h("div.property", { key: property.name }, h("label", { for: id }, t(property.label)), control, insertAnswerMenu(member, property),
    property.help && h("span.muted", { id: `${id}-help` }, t(property.help)), problems);
}
const grouped = (member, property, ...body) => h("fieldset.property", { key: property.name }, h("legend", t(property.label)), body, problemsAt(`${member._uid}.${property.name}`));

const parseNumber = (text) => text.trim() && Number.isFinite(Number(text)) ? Number(text) : undefined;
const floor = (n) => n === undefined ? n : Math.floor(n);
const input = (type, value, onValue, props) => h("input", {
  type, step: "any", dir: type === "text" ? "auto" : null, value, oninput: (e) => onValue(type === "number" ? parseNumber(e.target.value) : e.target.value, true), ...props,
});
const textarea = (value, onValue, props) => h("textarea", { rows: 2, dir: "auto", value, oninput: (e) => onValue(e.target.value, true), ...props });
const checkbox = (checked, label, onToggle) => h("label.choice", { key: label }, h("input", { type: "checkbox", checked, onchange: (e) => onToggle(e.target.checked) }), h("span", label));

let extras; // the module with editors that few forms need
function lazy(name, ...args) {
  if (extras) return extras[name](...args);
  import("./builder-files.js").then((module) => { extras = module; focus(); });
  return null;
}

// Editors by the input type of the property. set(value, tag) stores the value.
const editors = {
  text: (m, p, set) => labeled(m, p, chipsInput(t(p.label), m[p.name], set) || input("text", m[p.name], set, { onblur: () => assignAutoKey(m._uid) })),
  textarea: (m, p, set) => labeled(m, p, chipsInput(t(p.label), m[p.name], set) || textarea(m[p.name], set)),
  number: (m, p, set) => labeled(m, p, input("number", m[p.name], set)),
  integer: (m, p, set) => labeled(m, p, input("number", m[p.name], (n, tag) => set(floor(n), tag), { step: 1 })),
  expression(m, p, set) {
    if (m.total) return null;
    const [control, ...below] = formulaEditor(m, set, () => focus());
    const property = labeled(m, p, control);
    property.children.splice(2, 0, ...below);
    return property;
  },
  total: (m, p) => labeled(m, p, select(m.total, [["", t("Formula")], ["points", t("Sum of points")], ["prices", t("Sum of prices")]], (total) => updateMember(m._uid, (f) => {
    setProperty(f, "total", total);
    setProperty(f, "expression", total ? "" : "0");
  }))),
  date: (m, p, set) => labeled(m, p, input(p.type ?? kindOf(m).input, m[p.name], set)),
  groups: (m, p, set) => grouped(m, p, p.help && h("span.muted", t(p.help)), lazy("groups", m[p.name], checkbox, set)),
  checkbox: (m, p, set) => h("div.property", { key: p.name }, checkbox(m[p.name], t(p.label), set), p.help && h("span.muted", t(p.help)), problemsAt(`${m._uid}.${p.name}`)),
  condition: (m, p, set) => grouped(m, p, conditionEditor({
    intro: isEnding(m) ? t("Show this ending if") : isPageBreak(m) ? t("Show this page if") : t("Show this question if"),
    condition: m[p.name], before: isEnding(m) ? state.form.fields : state.form.fields.slice(0, state.form.fields.indexOf(m)), onChange: set,
  })),
  jumps: (m, p, set) => grouped(m, p, jumpsEditor(m, (jumps, tag) => set(jumps.length ? jumps : undefined, tag))),

  // A key is stored when it is complete, because all references change with it.
  key: (m, p) => labeled(m, p, input("text", m.key, null, { oninput: null, dir: "ltr", class: "code", spellcheck: "false", onchange: ({ target }) => {
    const key = target.value.trim();
    edit((form) => {
      const member = findMember(m._uid, form);
      member._auto = !key;
      if (key) renameKey(member, key, form);
    });
    assignAutoKey(m._uid);
  } })),

  options(m, p) {
    const { _uid: uid, [p.name]: options = [] } = m;
    const listId = `${uid}.${p.name}`;
    const hasLimits = p.name === "options" && kindOf(m).limits;
    const isExpanded = expandedLists.has(listId);
    const moveTo = (option, index) => updateMember(uid, (f) => {
      const others = f[p.name].filter((o) => o._uid !== option._uid);
      f[p.name] = index === undefined ? others : others.toSpliced(index, 0, option);
    });
    const disabledIf = (isDisabled) => isDisabled ? { "aria-disabled": "true", onclick: null } : null;
    const details = (option) => h("div.inline-row.option-details",
      h("label", t("Value"), input("text", option.value, null, { oninput: null, dir: "ltr", onchange: ({ target }) => edit((form) => {
        const field = findMember(uid, form);
        const edited = field[p.name].find((o) => o._uid === option._uid);
        edited._auto = false;
        renameValue(field, p.name, edited, target.value.trim(), form);
      }) })),
      hasLimits && h("label", t("Limit"), input("number", option.cap, (n) => updateOption(uid, p.name, option._uid, (o) => setProperty(o, "cap", floor(n) || undefined), "cap"), { min: 0, step: 1 })),
      [["points", t("Points"), p.name === "options" && kindOf(m).points], ["price", t("Price")]].filter((a) => hasLimits || a[2]).map(([name, label]) => h("label", { key: name }, label,
        input("number", option[name], (n) => updateOption(uid, p.name, option._uid, (o) => setProperty(o, name, n || undefined), name), { min: name === "price" ? 0 : null }), problemsAt(`${option._uid}.${name}`))));
    return grouped(m, p, p.help && h("span.muted", t(p.help)),
      h("ul.option-list", options.map((option, i) => h("li", { key: option._uid },
        h("div.inline-row", optionInput(uid, p.name, option, "panel", focus), iconButton("up", t("Move up"), () => moveTo(option, i - 1), disabledIf(!i)),
          iconButton("down", t("Move down"), () => moveTo(option, i + 1), disabledIf(i === options.length - 1)), iconButton("close", t("Remove"), () => moveTo(option))),
        ["label", "value", "cap"].map((name) => problemsAt(`${option._uid}.${name}`)),
        kindOf(m).type === "picture" && lazy("picture", uid, p.name, option, { problemsAt, render: () => focus() }),
        isExpanded && details(option)))),
      h("div.inline-row", addOptionButton(uid, p.name, "panel", focus),
        linkButton("", hasLimits ? t("Points, prices and limits") : t("Edit values"), () => { expandedLists.delete(listId) || expandedLists.add(listId); focus(); }, { "aria-expanded": `${isExpanded}` })));
  },

  // The default answer. Kinds with several parts, and consent, have none.
  default(m, p, set) {
    const kind = kindOf(m);
    const { type } = kind;
    if (kind.no_default) return null;
    const choices = m.options?.filter((o) => o.value).map((o) => [o.value, o.label]);
    const selected = m.default ?? [];
    if (type === "list") {
      return grouped(m, p, choices.map(([value, label]) => checkbox(selected.includes(value), label, (isOn) => {
        const values = choices.map(([v]) => v).filter((v) => v === value ? isOn : selected.includes(v));
        set(values.length ? values : undefined);
      })));
    }
    if (type === "choice") return labeled(m, p, select(m.default, [["", t("none")], ...choices], set));
    if (type === "boolean") {
      return labeled(m, p, select(m.default, [["", t("none")], [true, t("Yes")], [false, t("No")]], (v) => updateMember(m._uid, (f) => { f.default = v ? v === "true" : undefined; })));
    }
    return labeled(m, p, kind.multiline ? textarea(m.default, set) : input(kind.input, m.default, set));
  },
};

const setterFor = (member, name) => (value, tag) => updateMember(member._uid, (m) => setProperty(m, name, value), tag && `${name}${tag}`);
const editorFor = (member, property) => (editors[property.name === "key" ? "key" : property.input] ?? editors.text)(member, property, setterFor(member, property.name));

const kindEditor = (field, control) => control && labeled(field, { name: "kind", label: t("Question type") }, control);

const panelHeader = (titleIcon, title, description) => h("header", { key: "header" }, h("h2", titleIcon, title), h("p.muted", description));
const advanced = (body, title = t("Advanced")) => h("details", { key: title }, h("summary", title), body);

function fieldPanel(field) {
  const kind = kindOf(field);
  const common = commonProperties.filter((p) => isAsked(kind) || !["required", "default"].includes(p.name));
  const sectionOf = (p) => ["condition", "jumps"].includes(p.input) ? "logic" : ["key", "default"].includes(p.name) ? "advanced" : p.name === "required" ? "last" : "first";
  const section = (name) => common.filter((p) => sectionOf(p) === name).map((p) => editorFor(field, p));
  return [
    panelHeader(kindIcon(kind), t(kind.title), t(kindTexts[kind.name].description)), kindEditor(field, kindSelect(field)),
    section("first"), kindProperties.filter((p) => hasProperty(kind, p.name) && !kind.fixed?.includes(p.name)).map((p) => editorFor(field, p)), section("last"),
    h("div.logic", { key: "logic" }, h("h3", icon("branch"), t("Logic")), section("logic")), advanced(section("advanced")),
  ];
}

function formPanel({ form }) {
  const formAsMember = { _uid: "form", ...form, ...form.settings };
  const editor = (name, createEditor, label, help) => createEditor(formAsMember, { name, label, help }, (value, tag) =>
    edit((f) => name in f ? f[name] = value : setProperty(f.settings, name, value), tag && `form.${name}`));
  const languages = [...formLanguages];
  if (!languages.some(([tag]) => tag === form.language)) languages.push([form.language, form.language]);
  return [
    panelHeader(icon("gear"), t("Form settings"), t("Select a question to edit its settings.")),
    editor("title", editors.text, t("Title")), editor("description", editors.textarea, t("Description")),
    editor("language", (m, p, set) => labeled(m, p, select(form.language, languages, set)), t("Language"), t("Used for buttons and messages on the form")),
    editor("submit_label", editors.text, t("Submit button text")),
    editor("hide_progress", editors.checkbox, t("Hide progress")), editor("ask_again", editors.checkbox, t("Allow another response")),
  ];
}

export function propertiesPanel(actions) {
  ({ focus } = actions);
  const member = findMember(state.selectedId);
  return h("section.panel", { key: "panel", "aria-label": t("Properties"), tabindex: -1 },
    iconButton("close", t("Close"), actions.closePanel, { class: "icon-button close-panel" }),
    h("div", { key: state.selectedId }, !member ? formPanel(state) : isEnding(member) ? lazy("endingPanel", member, { editorFor, panelHeader, advanced }) : fieldPanel(member)));
}
