// The draft and what can be done to it. Every change goes through edit, so every
// change can be undone and is saved.

import { data, say } from "./builder-view.js";

export const kinds = new Map(data.kinds.map((kind) => [kind.name, kind]));
export const kindOf = (field) => kinds.get(field.kind) ?? { name: field.kind, title: field.kind, hint: "", group: "", properties: [], answered: true };
export const isBreak = (field) => field.kind === "page_break";
export const lists = ["options", "rows"];

const random = (letter) => letter + Array.from(crypto.getRandomValues(new Uint8Array(12)), (n) => "abcdefghijklmnopqrstuvwxyz234567"[n & 31]).join("");

// What begins with _ is ours: it never leaves the page.
export const outward = (form) => JSON.stringify(form, (name, value) => name === "_uid" || name === "_auto" ? undefined : value);

const option = (label) => ({ _uid: random("o"), _auto: true, label });

function take({ title, description, language, fields, endings, settings }) {
  const form = structuredClone({ title, description, language, fields: fields ?? [], endings: endings ?? [], settings: settings ?? {} });
  for (const field of form.fields) {
    field._uid = field.id;
    field._auto = !field.label && new RegExp(`^${field.kind}(_\\d+)?$`).test(field.key); // made up for want of words
    for (const list of lists) for (const o of field[list] ?? []) o._uid = random("o");
  }
  for (const ending of form.endings) ending._uid = random("e");
  return form;
}

export const state = {
  form: take(data.draft),
  meta: data.draft, // id, revision, version, status and changes
  chosen: "form", // or the _uid of a question or an ending
  problems: [], // what the server would not take: {owner, at, message}
  edits: 0,
};

const listeners = [];
export const onChange = (listener) => listeners.push(listener);
const changed = () => { state.edits++; for (const listener of listeners) listener(); };

// History: whole drafts, because they are small and then nothing can be forgotten.
const past = [];
const future = [];
let burst = "";
let lastEdit = 0;
const snapshot = () => ({ form: JSON.stringify(state.form), chosen: state.chosen });

// edit changes the draft. Edits with the same tag in quick succession are one step.
export function edit(change, tag = "") {
  const now = Date.now();
  if (!tag || tag !== burst || now - lastEdit > 1000) {
    past.push(snapshot());
    if (past.length > 200) past.shift();
  }
  [burst, lastEdit] = [tag, now];
  future.length = 0;
  change(state.form);
  changed();
}

// amend changes the draft as part of the step before.
export function amend(change) {
  change(state.form);
  changed();
}

function restore(from, to) {
  const step = from.pop();
  if (!step) return false;
  to.push(snapshot());
  state.form = JSON.parse(step.form);
  state.chosen = find(step.chosen) ? step.chosen : find(state.chosen) ? state.chosen : "form";
  burst = "";
  changed();
  return true;
}
export const undo = () => restore(past, future);
export const redo = () => restore(future, past);
export const canUndo = () => past.length > 0;
export const canRedo = () => future.length > 0;

// replace takes somebody else's draft in place of this one; undo brings it back.
export function replace(draft) {
  past.push(snapshot());
  burst = "";
  state.form = take(draft);
  if (!find(state.chosen)) state.chosen = "form";
}

export const members = (form = state.form) => [...form.fields, ...form.endings];
export const find = (uid, form = state.form) => members(form).find((m) => m._uid === uid);
export const isEnding = (member) => !("kind" in member);

// change edits one question or ending by its _uid.
export const change = (uid, how, tag) => edit((form) => how(find(uid, form)), tag && `${uid}.${tag}`);

// put sets a property; what is empty is left out.
export function put(member, name, value) {
  if (value === undefined || value === "" || value === false) delete member[name];
  else member[name] = value;
}

// Pages, as respondents count them.
export const pageOf = (uid, form = state.form) => {
  const at = form.fields.findIndex((f) => f._uid === uid);
  if (at < 0) return form.endings.some((e) => e._uid === uid) ? form.fields.filter(isBreak).length : 0;
  return form.fields.slice(0, at + 1).filter(isBreak).length;
};
export const numberOf = (field, form = state.form) => {
  const counted = form.fields.filter((f) => kindOf(f).answered);
  return counted.indexOf(field) + 1 || "";
};

// Keys and values: as the server would make them, but when the words stand, not
// in the middle of a word.
export function slug(text, otherwise) {
  const key = text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase()
    .replace(/^[^a-z]+/, "").replace(/[^a-z0-9]+/g, "_").slice(0, 40).replace(/_+$/, "");
  return key || otherwise;
}
function unused(key, taken) {
  let name = key;
  for (let n = 2; taken.includes(name); n++) name = `${key}_${n}`;
  return name;
}
const keysBeside = (member, form) => members(form).filter((m) => m !== member).map((m) => m.key);

// settle gives a member the key that its words suggest, until somebody chose one.
export function settle(uid) {
  const member = find(uid);
  if (!member?._auto) return;
  const key = unused(slug(member.label ?? member.title ?? "", member.kind ?? "ending"), keysBeside(member));
  if (key !== member.key) amend((form) => rename(form, find(uid, form), key));
}
export function settleOption(uid, list, optionUid) {
  const options = find(uid)?.[list] ?? [];
  const o = options.find((x) => x._uid === optionUid);
  if (!o?._auto) return;
  const value = o.label.trim() ? unused(slug(o.label, "option"), options.filter((x) => x !== o).map((x) => x.value)) : undefined;
  if (value !== o.value) amend((form) => revalue(form, uid, list, optionUid, value));
}

const pipe = /\{\{\s*([a-z][a-z0-9_]*)\s*\}\}/g;
const piped = ["label", "help", "text", "title", "redirect"];
// Names in an expression, leaving texts in quotes alone.
const inExpression = (text, replace) => text.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[A-Za-z_]\w*/g, (word) => /^["']/.test(word) ? word : replace(word));

// rename gives a member another key and takes along what speaks of it.
export function rename(form, member, key) {
  const was = member.key;
  put(member, "key", key);
  if (!was || !key) return;
  for (const m of members(form)) {
    for (const c of comparisons(m)) if (c.field === was) c.field = key;
    for (const jump of m.jumps ?? []) if (jump.to === was) jump.to = key;
    for (const name of piped) if (m[name]) m[name] = m[name].replace(pipe, (all, found) => found === was ? `{{${key}}}` : all);
    if (m.expression) m.expression = inExpression(m.expression, (word) => word === was ? key : word);
  }
}

// revalue gives an option another value and takes along what compares with it.
export function revalue(form, uid, list, optionUid, value) {
  const field = find(uid, form);
  const o = field[list].find((x) => x._uid === optionUid);
  const was = o.value;
  put(o, "value", value);
  if (!was || !value || list !== "options") return;
  for (const m of members(form)) for (const c of comparisons(m)) if (c.field === field.key && c.value === was) c.value = value;
  if (field.default === was) field.default = value;
  else if (Array.isArray(field.default)) field.default = field.default.map((v) => v === was ? value : v);
}

function* leaves(condition) {
  if (!condition) return;
  if (condition.field) yield condition;
  for (const part of [...condition.all ?? [], ...condition.any ?? [], condition.not]) yield* leaves(part);
}
export function* comparisons(member) {
  yield* leaves(member.show_if);
  for (const jump of member.jumps ?? []) yield* leaves(jump.if);
}

// dangling lists what speaks of something that is not there or comes too late.
// keys are those that names in expressions may have meant.
export function dangling(form, keys) {
  const list = [];
  const order = new Map(form.fields.map((f, i) => [f.key, i]));
  const endings = new Set(form.endings.map((e) => e.key));
  members(form).forEach((member, i) => {
    const late = (key, until = i) => !(order.get(key) < until);
    const note = (how, key) => list.push({ member, how, key });
    for (const c of leaves(member.show_if)) if (late(c.field)) note("show_if", c.field);
    for (const jump of member.jumps ?? []) {
      for (const c of leaves(jump.if)) if (late(c.field, i + 1)) note("jumps", c.field);
      if (!(order.get(jump.to) > i) && !endings.has(jump.to)) note("jumps", jump.to);
    }
    for (const name of piped) for (const [, key] of (member[name] ?? "").matchAll(pipe)) if (late(key)) note(name, key);
    if (member.expression) inExpression(member.expression, (word) => { if (keys.has(word) && late(word)) note("expression", word); return word; });
  });
  return list;
}

function without(condition, key) {
  if (!condition || condition.field) return condition?.field === key ? undefined : condition;
  if (condition.not) return without(condition.not, key) && condition;
  const name = condition.all ? "all" : "any";
  const rest = condition[name].map((part) => without(part, key)).filter(Boolean);
  return rest.length > 1 ? { [name]: rest } : rest[0];
}

// forget removes what speaks of a key. A jump whose condition is gone goes too:
// otherwise everybody would jump.
function forget({ member, how, key }) {
  if (how === "show_if") put(member, "show_if", without(member.show_if, key));
  else if (how === "jumps") {
    const rest = member.jumps.filter((jump) => jump.to !== key).map((jump) => ({ ...jump, was: jump.if, if: without(jump.if, key) }))
      .filter((jump) => jump.if || !jump.was).map(({ was, ...jump }) => jump);
    put(member, "jumps", rest.length ? rest : undefined);
  } else if (how === "expression") member.expression = inExpression(member.expression, (word) => word === key ? "0" : word);
  else put(member, how, member[how].replace(pipe, (all, found) => found === key ? "" : all));
}

// guarded makes a change that may leave others speaking of what is gone. Then it
// asks first, with the list of them.
export async function guarded(how, ask) {
  const keys = new Set(members().map((m) => m.key));
  const same = (a) => `${a.member._uid} ${a.how} ${a.key}`;
  const known = new Set(dangling(state.form, keys).map(same));
  const news = (form) => dangling(form, keys).filter((d) => !known.has(same(d)));
  const trial = structuredClone(state.form);
  how(trial);
  const broken = news(trial);
  if (broken.length && !(await ask(broken))) return false;
  edit((form) => {
    how(form);
    for (const d of news(form)) forget(d);
  });
  return true;
}

// What a new question starts with, so that it can be saved at once.
const beginnings = {
  options: () => [option(say("Answer {n}", { n: 1 })), option(say("Answer {n}", { n: 2 }))],
  rows: () => [option(say("Row {n}", { n: 1 })), option(say("Row {n}", { n: 2 }))],
  expression: () => "0",
};

export function begin(kind) {
  const field = { id: random("f"), _auto: true, kind: kind.name, label: "" };
  field._uid = field.id;
  for (const name of kind.properties) if (beginnings[name]) field[name] = beginnings[name]();
  if (!kind.answered && kind.properties.includes("text")) field.text = say("Write something here.");
  field.key = unused(kind.name, keysBeside(field));
  for (const list of lists) for (const o of field[list] ?? []) o.value = unused(slug(o.label, "option"), field[list].map((x) => x.value));
  return field;
}

export function beginEnding() {
  const ending = { _uid: random("e"), _auto: true, title: say("Thank you") };
  ending.key = unused("ending", keysBeside(ending));
  return ending;
}

// twin is a copy with a name of its own.
export function twin(member) {
  const copy = structuredClone(member);
  copy._uid = random(isEnding(member) ? "e" : "f");
  copy._auto = true;
  if (!isEnding(member)) copy.id = copy._uid;
  for (const list of lists) for (const o of copy[list] ?? []) o._uid = random("o");
  copy.key = unused(member.key ?? "copy", members().map((m) => m.key));
  return copy;
}

export function addOptions(uid, list, after, labels) {
  const fresh = labels.map(option);
  change(uid, (field) => {
    const at = after ? field[list].findIndex((o) => o._uid === after) + 1 : (field[list] ?? []).length;
    (field[list] ??= []).splice(at, 0, ...fresh);
  });
  for (const o of fresh) settleOption(uid, list, o._uid);
  return fresh.at(-1)?._uid;
}

// toKind turns a question into another kind and keeps what that has, too.
export function toKind(field, kind) {
  const fresh = begin(kind);
  const keep = ["id", "_uid", "_auto", "key", "label", "help", "show_if", "jumps", ...kind.answered ? ["required"] : []];
  for (const name of Object.keys(field)) if (!keep.includes(name) && !kind.properties.includes(name)) delete field[name];
  delete field.default;
  for (const name of kind.properties) if (field[name] === undefined && fresh[name] !== undefined) field[name] = fresh[name];
  field.kind = kind.name;
}

// typeOf is what an answer is: choice, list, number, truth, moment, text, thing,
// or nothing. Kinds that are not known by name are known by their properties.
export function typeOf(kind) {
  const has = (name) => kind.properties.includes(name);
  if (!kind.answered) return "";
  if (has("rows") || ["name", "address", "ranking"].includes(kind.name)) return "thing";
  if (has("options")) return has("max_picks") ? "list" : "choice";
  if (["yes_no", "consent"].includes(kind.name)) return "truth";
  if (has("step")) return "number";
  if (has("earliest")) return "moment";
  return "text";
}
export const momentInput = (kind) => ({ date: "date", time: "time", datetime: "datetime-local" })[kind.name] ?? "text";
