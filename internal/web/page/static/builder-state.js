// The draft and its operations. All changes go through edit, so that they can be undone
// and are saved. A member is a question or an ending.

import { data, t } from "./vdom.js";

for (const kind of data.kinds) Object.assign(kind, { type: kind.no_answer ? "" : "text", input: "text", has_answer: !kind.no_answer, ...kind });
export const kinds = new Map(data.kinds.map((kind) => [kind.name, kind]));
export const kindOf = (field) => kinds.get(field.kind);
export const hasProperty = (kind, name) => kind.properties.includes(name);
export const isPageBreak = (field) => Boolean(kindOf(field)?.page_break);
export const isEnding = (member) => !member.kind;
export const optionLists = ["options", "rows"];

const randomId = (prefix) => prefix + Array.from(crypto.getRandomValues(new Uint8Array(12)), (n) => "abcdefghijklmnopqrstuvwxyz234567"[n & 31]).join("");

// serialize leaves out _uid, which identifies an item on this page, and _auto, which means
// that its key or value is made from its text.
export const serialize = (form) => JSON.stringify(form, (name, value) => name === "_uid" || name === "_auto" ? undefined : value);

function loadDraft({ title, description, language, fields, endings, settings }) {
  const form = structuredClone({ title, description, language, fields, endings, settings });
  for (const f of form.fields) {
    f._uid = f.id;
    for (const list of optionLists) for (const o of f[list] ?? []) o._uid = randomId("o");
  }
  for (const e of form.endings) e._uid = randomId("e");
  return form;
}

export const state = {
  form: loadDraft(data.draft),
  meta: data.draft, // id, revision, version and changes
  selectedId: "form", // or the _uid of a member
  problems: [], // validation errors of the server: {uid, path, message}
  isChecked: false, // whether unnamed options are shown as problems
  editCount: 0,
};

let notifyChange = () => {};
export const onChange = (listener) => { notifyChange = () => { state.editCount++; listener(); }; };

// The history stores whole drafts, because they are small.
const historyLimit = 200;
const mergeWindow = 1000; // milliseconds
export const undoStack = [];
export const redoStack = [];
let lastTag = "";
let lastEditAt = 0;
const snapshot = () => ({ form: JSON.stringify(state.form), selectedId: state.selectedId });

// edit changes the draft. Edits with the same tag in quick succession are one undo step.
export function edit(mutate, tag = "") {
  const now = Date.now();
  if (!tag || tag !== lastTag || now - lastEditAt > mergeWindow) undoStack.push(snapshot());
  if (undoStack.length > historyLimit) undoStack.shift();
  [lastTag, lastEditAt] = [tag, now];
  redoStack.length = 0;
  mutate(state.form);
  notifyChange();
}

export function applyHistory(from, to) {
  const step = from.pop();
  if (!step) return false;
  to.push(snapshot());
  state.form = JSON.parse(step.form);
  state.selectedId = [step.selectedId, state.selectedId].find((uid) => findMember(uid)) ?? "form";
  lastTag = "";
  notifyChange();
  return true;
}

// replaceDraft loads another draft. Undo restores the current one.
export function replaceDraft(draft) {
  undoStack.push(snapshot());
  state.editCount++;
  state.form = loadDraft(draft);
  if (!findMember(state.selectedId)) state.selectedId = "form";
}

export const membersOf = (form = state.form) => [...form.fields, ...form.endings];
const findByUid = (list, uid) => list.find((item) => item._uid === uid);
export const findMember = (uid, form) => findByUid(membersOf(form), uid);
export const listOf = (member, form = state.form) => isEnding(member) ? form.endings : form.fields;
export const updateMember = (uid, mutate, tag) => edit((form) => mutate(findMember(uid, form)), tag && `${uid}.${tag}`);
export const updateOption = (uid, list, optionUid, mutate, tag) =>
  updateMember(uid, (f) => mutate(findByUid(f[list], optionUid)), tag && `${optionUid}.${tag}`);

// setProperty sets a property, or deletes it if the value is empty.
export function setProperty(member, name, value) {
  if (value === undefined || value === "" || value === false) delete member[name];
  else member[name] = value;
}

// Page and question numbers, as respondents see them. They are cached until the next edit.
let numbering = {};
function computeNumbering() {
  if (numbering.editCount === state.editCount) return numbering;
  numbering = { editCount: state.editCount, pages: new Map([["form", 0]]), questions: new Map(), pageCount: 0, questionCount: 0 };
  for (const f of state.form.fields) {
    numbering.pages.set(f._uid, numbering.pageCount += isPageBreak(f));
    if (kindOf(f).has_answer) numbering.questions.set(f._uid, ++numbering.questionCount);
  }
  return numbering;
}
export const pageIndexOf = (uid) => computeNumbering().pages.get(uid) ?? computeNumbering().pageCount;
export const questionCount = () => computeNumbering().questionCount;
export const questionNumber = (field) => computeNumbering().questions.get(field._uid) ?? 0;

// Keys and values are made from texts as on the server.
const slug = (text, fallback) => text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase().replaceAll("ß", "ss").replaceAll("ı", "i")
  .replace(/^[^a-z]+/, "").replace(/[^a-z0-9]+/g, "_").slice(0, 40).replace(/_+$/, "") || fallback;
function uniqueName(base, taken) {
  let name = base;
  for (let n = 2; taken.includes(name); n++) name = `${base}_${n}`;
  return name;
}
const usedKeys = (exceptUid) => membersOf().filter((m) => m._uid !== exceptUid).map((m) => m.key);

// assignAutoKey updates the key of a member or the value of an option after its text was
// edited. It belongs to the previous undo step.
export function assignAutoKey(uid, list, optionUid) {
  const member = findMember(uid);
  const option = list && findByUid(member?.[list] ?? [], optionUid);
  const item = list ? option : member;
  if (!item?._auto) return;
  const old = item.key ?? item.value;
  if (!list) renameKey(member, uniqueName(slug(member.label ?? member.title ?? "", member.kind ?? "ending"), usedKeys(uid)));
  else renameValue(member, list, option, option.label.trim() && uniqueName(slug(option.label, "option"), member[list].filter((o) => o !== option).map((o) => o.value)));
  if ((item.key ?? item.value) !== old) notifyChange();
}

// Piping: {{key}} in a text inserts an answer, {{key|text}} the text if there is none.
export const pipedProperties = ["label", "help", "text", "title", "redirect", "button_label", "button_url", "event_title", "event_place"];
const replacePipes = (text, replacement) => text.replace(/\{\{\s*([a-z][a-z0-9_]*)\s*(\|[^{}\n]*)?\}\}/g, (match, key, fallback = "") => replacement(key, fallback) ?? match);
export const pipesIn = (text) => [...(text ?? "").matchAll(/\{\{\s*([a-z][a-z0-9_]*)\s*(?:\|([^{}\n]*))?\}\}/g)].map(({ 0: found, 1: key, 2: fallback, index }) => ({ text: found, key, fallback, index }));
const replaceIdentifiers = (formula, replacement) => formula.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[A-Za-z_]\w*/g, (token) => replacement(token) ?? token);

// renameKey changes the key of a member in all references to it.
export function renameKey(member, key, form = state.form) {
  const old = member.key;
  member.key = key;
  if (!old || old === key) return;
  for (const m of membersOf(form)) {
    for (const c of comparisonsOf(m)) if (c.field === old) c.field = key;
    for (const jump of m.jumps ?? []) if (jump.to === old) jump.to = key;
    for (const name of pipedProperties) if (m[name]) m[name] = replacePipes(m[name], (found, fallback) => found === old ? `{{${key}${fallback}}}` : null);
    if (m.expression) m.expression = replaceIdentifiers(m.expression, (found) => found === old ? key : null);
  }
}

// renameValue changes the value of an option in all references to it.
export function renameValue(field, list, option, value, form = state.form) {
  const old = option.value;
  setProperty(option, "value", value);
  if (!old || !value || list !== "options") return;
  for (const m of membersOf(form)) for (const c of comparisonsOf(m)) if (c.field === field.key && c.value === old) c.value = value;
  if (field.default) field.default = Array.isArray(field.default) ? field.default.map((v) => v === old ? value : v) : field.default === old ? value : field.default;
}

// comparisonsIn yields the comparisons inside a condition.
function* comparisonsIn(condition) {
  if (condition?.field) yield condition;
  for (const part of [...condition?.all ?? [], ...condition?.any ?? [], ...condition?.not ? [condition.not] : []]) yield* comparisonsIn(part);
}
function* comparisonsOf(member) {
  yield* comparisonsIn(member.show_if);
  for (const jump of member.jumps ?? []) yield* comparisonsIn(jump.if);
}

// findBrokenReferences lists references to members that do not exist or come too late.
function findBrokenReferences(form, knownKeys) {
  const broken = [];
  const position = new Map(form.fields.map((f, i) => [f.key, i]));
  membersOf(form).forEach((member, i) => {
    const check = (property, key, before = i) => { if (!(position.get(key) < before)) broken.push({ member, property, key }); };
    for (const c of comparisonsIn(member.show_if)) check("show_if", c.field);
    for (const jump of member.jumps ?? []) {
      for (const c of comparisonsIn(jump.if)) check("jumps", c.field, i + 1);
      if (!(position.get(jump.to) > i) && !form.endings.some((e) => e.key === jump.to)) broken.push({ member, property: "jumps", key: jump.to });
    }
    for (const name of pipedProperties) replacePipes(member[name] ?? "", (key) => check(name, key));
    replaceIdentifiers(member.expression ?? "", (name) => { if (knownKeys.includes(name)) check("expression", name); });
  });
  return broken;
}

function withoutKey(condition, key) {
  if (!condition || condition.field) return condition?.field === key ? undefined : condition;
  if (condition.not) return withoutKey(condition.not, key) && { not: withoutKey(condition.not, key) };
  const mode = condition.all ? "all" : "any";
  const parts = condition[mode].map((part) => withoutKey(part, key)).filter(Boolean);
  return parts.length > 1 ? { [mode]: parts } : parts[0];
}

// A jump that loses its whole condition is removed too: otherwise every respondent would
// jump.
function removeReference({ member, property, key }) {
  if (property === "show_if") setProperty(member, property, withoutKey(member.show_if, key));
  else if (property === "expression") member.expression = replaceIdentifiers(member.expression, (found) => found === key ? "0" : null);
  else if (property !== "jumps") setProperty(member, property, replacePipes(member[property], (found) => found === key ? "" : null));
  else {
    const jumps = member.jumps.filter((jump) => jump.to !== key && (!jump.if || withoutKey(jump.if, key)));
    for (const jump of jumps) setProperty(jump, "if", withoutKey(jump.if, key));
    setProperty(member, property, jumps.length ? jumps : undefined);
  }
}

// editWithReferenceCheck asks for confirmation if a change breaks references, and removes
// those references.
export async function editWithReferenceCheck(mutate, confirm) {
  const knownKeys = usedKeys();
  const identity = (reference) => `${reference.member._uid} ${reference.property} ${reference.key}`;
  const brokenBefore = findBrokenReferences(state.form, knownKeys).map(identity);
  const mutateAndFindBroken = (form) => {
    mutate(form);
    return findBrokenReferences(form, knownKeys).filter((reference) => !brokenBefore.includes(identity(reference)));
  };
  const broken = mutateAndFindBroken(structuredClone(state.form));
  if (broken.length && !(await confirm(broken))) return false;
  edit((form) => mutateAndFindBroken(form).forEach(removeReference));
  return true;
}

// Options start without a label, so that no example can reach respondents.
export const isUnnamed = (option) => !option.label?.trim();
export const exampleUids = (options) => options.filter(isUnnamed).map((o) => o._uid);
export const newOption = (label) => ({ _uid: randomId("o"), _auto: true, label });

export function newField(kind) {
  const id = randomId("f");
  const field = { id, _uid: id, _auto: true, key: uniqueName(kind.name, usedKeys()), kind: kind.name };
  for (const list of optionLists) if (hasProperty(kind, list)) field[list] = ["", ""].map(newOption);
  if (hasProperty(kind, "expression")) field.expression = "0";
  if (hasProperty(kind, "text") && !kind.has_answer) field.text = t("Add your text here.");
  return field;
}
export const newEnding = () => ({ _uid: randomId("e"), _auto: true, key: uniqueName("ending", usedKeys()), title: t("Thank you") });

// cloneMember returns a copy with its own key.
export function cloneMember(member) {
  const _uid = randomId("f");
  const copy = { ...structuredClone(member), _uid, _auto: true, key: uniqueName(member.key, usedKeys()) };
  if (member.id) copy.id = _uid;
  for (const list of optionLists) for (const o of copy[list] ?? []) o._uid = randomId("o");
  return copy;
}

// addOptions inserts options after one of them, or at the end, in place of those of the
// replaced ones that are still unnamed. It returns the uid of the last new option.
export function addOptions(uid, list, afterUid, labels, replacedUids = []) {
  const added = labels.map(newOption);
  updateMember(uid, (f) => {
    const options = f[list] ??= [];
    options.splice(afterUid ? options.findIndex((o) => o._uid === afterUid) + 1 : options.length, 0, ...added);
    f[list] = options.filter((o) => !replacedUids.includes(o._uid) || !isUnnamed(o));
  });
  for (const o of added) assignAutoKey(uid, list, o._uid);
  return added.at(-1)._uid;
}

// convertKind changes the kind of a question and keeps the properties that both have.
export function convertKind(field, kind) {
  const sharedNames = ["id", "_uid", "_auto", "key", "label", "help", "required", "show_if", "jumps", ...kind.properties.filter((name) => !kind.fixed?.includes(name))];
  for (const name of Object.keys(field)) if (!sharedNames.includes(name)) delete field[name];
  field.kind = kind.name;
}
