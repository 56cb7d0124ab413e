// The draft and what can be done to it. Every change goes through edit, so every
// change can be undone and is saved.

import { data, say } from "./vdom.js";

export const kinds = new Map(data.kinds.map((kind) => [kind.name, kind]));
export const kindOf = (field) => kinds.get(field.kind);
export const has = (kind, name) => kind.properties.includes(name);
export const isBreak = (field) => Boolean(kindOf(field)?.break);
export const isEnding = (member) => !member.kind;
export const lists = ["options", "rows"];

const random = (letter) => letter + Array.from(crypto.getRandomValues(new Uint8Array(12)), (n) => "abcdefghijklmnopqrstuvwxyz234567"[n & 31]).join("");

// What begins with _ never leaves the page. _auto: the key or value follows the words.
export const outward = (form) => JSON.stringify(form, (name, value) => name === "_uid" || name === "_auto" ? undefined : value);

function take({ title, description, language, fields, endings, settings }) {
  const form = structuredClone({ title, description, language, fields, endings, settings });
  for (const f of form.fields) {
    f._uid = f.id;
    for (const list of lists) for (const o of f[list] ?? []) o._uid = random("o");
  }
  for (const e of form.endings) e._uid = random("e");
  return form;
}

export const state = {
  form: take(data.draft),
  meta: data.draft, // for id, revision, version and changes
  chosen: "form", // or the _uid of a question or an ending
  problems: [], // what the server would not take: {owner, at, message}
  edits: 0,
};

let changed = () => {};
export const onChange = (listener) => { changed = () => { state.edits++; listener(); }; };

// History: whole drafts, because they are small and then nothing can be forgotten.
export const past = [];
export const future = [];
let burst = "";
let last = 0;
const snapshot = () => ({ form: JSON.stringify(state.form), chosen: state.chosen });

// Edits with the same tag in quick succession are one step.
export function edit(how, tag = "") {
  const now = Date.now();
  if (!tag || tag !== burst || now - last > 1000) past.push(snapshot());
  if (past.length > 200) past.shift();
  [burst, last] = [tag, now];
  future.length = 0;
  how(state.form);
  changed();
}

export function travel(from, to) {
  const step = from.pop();
  if (!step) return false;
  to.push(snapshot());
  state.form = JSON.parse(step.form);
  state.chosen = [step.chosen, state.chosen].find((uid) => find(uid)) ?? "form";
  burst = "";
  changed();
  return true;
}

// replace takes somebody else's draft in place of this one; undo brings it back.
export function replace(draft) {
  past.push(snapshot());
  state.edits++;
  state.form = take(draft);
  if (!find(state.chosen)) state.chosen = "form";
}

export const members = (form = state.form) => [...form.fields, ...form.endings];
const byUid = (list, uid) => list.find((m) => m._uid === uid);
export const find = (uid, form) => byUid(members(form), uid);
export const listOf = (member, form = state.form) => isEnding(member) ? form.endings : form.fields;
export const change = (uid, how, tag) => edit((form) => how(find(uid, form)), tag && `${uid}.${tag}`);
export const changeOption = (uid, list, id, how, tag) => change(uid, (f) => how(byUid(f[list], id)), tag && `${id}.${tag}`);

// put sets a property; what is empty is left out.
export function put(member, name, value) {
  if (value === undefined || value === "" || value === false) delete member[name];
  else member[name] = value;
}

// Pages and questions, as respondents count them.
let counts = {};
function count() {
  if (counts.edits === state.edits) return counts;
  counts = { edits: state.edits, pages: new Map([["form", 0]]), numbers: new Map(), page: 0, number: 0 };
  for (const f of state.form.fields) {
    counts.pages.set(f._uid, counts.page += isBreak(f));
    if (kindOf(f).answered) counts.numbers.set(f._uid, ++counts.number);
  }
  return counts;
}
export const pageOf = (uid) => count().pages.get(uid) ?? count().page;
export const numberOf = (field) => count().numbers.get(field._uid) ?? 0;

// Keys and values are made as the server would, but when the words stand.
const slug = (text, otherwise) => text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase().replaceAll("ß", "ss").replaceAll("ı", "i")
  .replace(/^[^a-z]+/, "").replace(/[^a-z0-9]+/g, "_").slice(0, 40).replace(/_+$/, "") || otherwise;
function unused(key, taken) {
  let name = key;
  for (let n = 2; taken.includes(name); n++) name = `${key}_${n}`;
  return name;
}
const keys = (but) => members().filter((m) => m._uid !== but).map((m) => m.key);

// settle belongs to the step before.
export function settle(uid, list, id) {
  const m = find(uid);
  const o = list && byUid(m?.[list] ?? [], id);
  const it = list ? o : m;
  if (!it?._auto) return;
  const was = it.key ?? it.value;
  if (!list) rename(m, unused(slug(m.label ?? m.title ?? "", m.kind ?? "ending"), keys(uid)));
  else revalue(m, list, o, o.label.trim() && unused(slug(o.label, "option"), m[list].filter((x) => x !== o).map((x) => x.value)));
  if ((it.key ?? it.value) !== was) changed();
}

const pipe = /\{\{\s*([a-z][a-z0-9_]*)\s*\}\}/g;
export const piped = ["label", "help", "text", "title", "redirect"];
const inPipes = (text, replace) => text.replace(pipe, (all, key) => replace(key) ?? all);
const inExpression = (text, replace) => text.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[A-Za-z_]\w*/g, (word) => replace(word) ?? word);

// rename gives a member another key and takes along what speaks of it.
export function rename(member, key, form = state.form) {
  const was = member.key;
  member.key = key;
  if (!was || was === key) return;
  for (const m of members(form)) {
    for (const c of comparisons(m)) if (c.field === was) c.field = key;
    for (const jump of m.jumps ?? []) if (jump.to === was) jump.to = key;
    for (const name of piped) if (m[name]) m[name] = inPipes(m[name], (found) => found === was ? `{{${key}}}` : null);
    if (m.expression) m.expression = inExpression(m.expression, (word) => word === was ? key : null);
  }
}

// revalue does the same for an option.
export function revalue(field, list, o, value, form = state.form) {
  const was = o.value;
  put(o, "value", value);
  if (!was || !value || list !== "options") return;
  for (const m of members(form)) for (const c of comparisons(m)) if (c.field === field.key && c.value === was) c.value = value;
  if (field.default) field.default = Array.isArray(field.default) ? field.default.map((v) => v === was ? value : v) : field.default === was ? value : field.default;
}

function* leaves(c) {
  if (c?.field) yield c;
  for (const part of [...c?.all ?? [], ...c?.any ?? [], ...c?.not ? [c.not] : []]) yield* leaves(part);
}
function* comparisons(member) {
  yield* leaves(member.show_if);
  for (const jump of member.jumps ?? []) yield* leaves(jump.if);
}

// dangling lists what speaks of something that is gone or comes too late.
function dangling(form, known) {
  const list = [];
  const order = new Map(form.fields.map((f, i) => [f.key, i]));
  members(form).forEach((member, i) => {
    const check = (how, key, until = i) => { if (!(order.get(key) < until)) list.push({ member, how, key }); };
    for (const c of leaves(member.show_if)) check("show_if", c.field);
    for (const jump of member.jumps ?? []) {
      for (const c of leaves(jump.if)) check("jumps", c.field, i + 1);
      if (!(order.get(jump.to) > i) && !form.endings.some((e) => e.key === jump.to)) list.push({ member, how: "jumps", key: jump.to });
    }
    for (const name of piped) inPipes(member[name] ?? "", (key) => check(name, key));
    inExpression(member.expression ?? "", (word) => { if (known.includes(word)) check("expression", word); });
  });
  return list;
}

function without(c, key) {
  if (!c || c.field) return c?.field === key ? undefined : c;
  if (c.not) return without(c.not, key) && { not: without(c.not, key) };
  const name = c.all ? "all" : "any";
  const rest = c[name].map((part) => without(part, key)).filter(Boolean);
  return rest.length > 1 ? { [name]: rest } : rest[0];
}

// A jump whose condition is forgotten goes too: otherwise everybody would jump.
function forget({ member, how, key }) {
  if (how === "show_if") put(member, how, without(member.show_if, key));
  else if (how === "expression") member.expression = inExpression(member.expression, (word) => word === key ? "0" : null);
  else if (how !== "jumps") put(member, how, inPipes(member[how], (found) => found === key ? "" : null));
  else {
    const rest = member.jumps.filter((jump) => jump.to !== key && (!jump.if || without(jump.if, key)));
    for (const jump of rest) put(jump, "if", without(jump.if, key));
    put(member, how, rest.length ? rest : undefined);
  }
}

// guarded asks before a change that leaves others speaking of what is gone.
export async function guarded(how, ask) {
  const known = keys();
  const same = (d) => `${d.member._uid} ${d.how} ${d.key}`;
  const before = dangling(state.form, known).map(same);
  const broken = (form) => { how(form); return dangling(form, known).filter((d) => !before.includes(same(d))); };
  const trial = broken(structuredClone(state.form));
  if (trial.length && !(await ask(trial))) return false;
  edit((form) => broken(form).forEach(forget));
  return true;
}

const example = (list, n) => list === "rows" ? say("Row {n}", { n }) : say("Option {n}", { n });
// examples are the options that a question began with, as long as nobody has touched them.
export const isExample = (all, list, uid) => all.some((o, i) => o._uid === uid && o._auto && o.label === example(list, i + 1));
export const examples = (all, list) => all.every((o, i) => o.label === example(list, i + 1)) ? all.map((o) => o._uid) : [];
const option = (label) => ({ _uid: random("o"), _auto: true, label });

// begin makes a question that can be saved at once.
export function begin(kind) {
  const id = random("f");
  const field = { id, _uid: id, _auto: true, key: unused(kind.name, keys()), kind: kind.name };
  for (const list of ["options", "rows"]) if (has(kind, list)) field[list] = [1, 2].map((n) => option(example(list, n)));
  if (has(kind, "expression")) field.expression = "0";
  if (has(kind, "text") && !kind.answered) field.text = say("Add your text here.");
  return field;
}
export const beginEnding = () => ({ _uid: random("e"), _auto: true, key: unused("ending", keys()), title: say("Thank you") });

// twin is a copy with a name of its own.
export function twin(member) {
  const _uid = random("f");
  const copy = { ...structuredClone(member), _uid, _auto: true, key: unused(member.key, keys()) };
  if (member.id) copy.id = _uid;
  for (const list of lists) for (const o of copy[list] ?? []) o._uid = random("o");
  return copy;
}

export function addOptions(uid, list, after, labels, instead = []) {
  const fresh = labels.map(option);
  change(uid, (f) => {
    const all = f[list] ??= [];
    all.splice(after ? all.findIndex((o) => o._uid === after) + 1 : all.length, 0, ...fresh);
    f[list] = all.filter((o) => !instead.includes(o._uid));
  });
  for (const o of fresh) settle(uid, list, o._uid);
  return fresh.at(-1)._uid;
}

// toKind turns a question into another kind and keeps what that has, too.
export function toKind(field, kind) {
  const keep = ["id", "_uid", "_auto", "key", "label", "help", "required", "show_if", "jumps", ...kind.properties.filter((name) => !kind.fixed.includes(name))];
  for (const name of Object.keys(field)) if (!keep.includes(name)) delete field[name];
  field.kind = kind.name;
}

