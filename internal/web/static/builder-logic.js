// Logic in sentences: conditions and jumps, said and edited.

import { h, icon, say, tool } from "./builder-view.js";
import { isBreak, kindOf, momentInput, numberOf, pageOf, state, typeOf } from "./builder-draft.js";

const comparing = {
  equals: () => say("is"), not_equals: () => say("is not"), contains: () => say("contains"),
  greater: () => say("is more than"), less: () => say("is less than"), at_least: () => say("is at least"), at_most: () => say("is at most"),
  answered: () => say("is answered"), not_answered: () => say("is not answered"),
};
const comparingMoments = {
  greater: () => say("is after"), less: () => say("is before"), at_least: () => say("is not before"), at_most: () => say("is not after"),
};
const size = ["greater", "less", "at_least", "at_most"];
const opsOf = {
  choice: ["equals", "not_equals"], truth: ["equals", "not_equals"], list: ["contains"], thing: [],
  number: ["equals", "not_equals", ...size], moment: ["equals", "not_equals", ...size], text: ["equals", "not_equals", "contains"],
};
const needsValue = (op) => op !== "answered" && op !== "not_answered";
const opWord = (field, op) => (field && typeOf(kindOf(field)) === "moment" && comparingMoments[op] || comparing[op] || (() => op))();

// A calculated answer is a number or a text; either may be compared.
const kindOps = (field) => [
  ...kindOf(field).properties.includes("expression") ? [...opsOf.number, "contains"] : opsOf[typeOf(kindOf(field))] ?? [],
  "answered", "not_answered",
];

export const short = (text, most = 48) => text.length > most ? `${text.slice(0, most - 1).trimEnd()}…` : text;
export const nameOf = (member) => short(member.label || member.title || (member.kind ? say(kindOf(member).title) : say("Ending")));
const byKey = (key) => state.form.fields.find((f) => f.key === key);

function valueWords(field, value) {
  if (typeof value === "boolean") return value ? say("Yes") : say("No");
  if (Array.isArray(value)) return value.map((v) => valueWords(field, v)).join(", ");
  return field?.options?.find((o) => o.value === value)?.label ?? (typeof value === "object" ? JSON.stringify(value) : `${value ?? ""}`);
}

export function sentence(c) {
  const join = (list, between) => list.map((part) => part.all || part.any ? `(${sentence(part)})` : sentence(part)).join(` ${between} `);
  if (!c) return say("always");
  if (c.all) return join(c.all, say("and"));
  if (c.any) return join(c.any, say("or"));
  if (c.not) return `${say("not")} (${sentence(c.not)})`;
  const field = byKey(c.field);
  return `“${field ? nameOf(field) : c.field}” ${opWord(field, c.op)} ${needsValue(c.op) ? valueWords(field, c.value) : ""}`.trim();
}

export const targetName = (key) => {
  const page = byKey(key);
  if (page) return `${say("Page {n}", { n: pageOf(page._uid) + 1 })}${page.label ? `: ${short(page.label)}` : ""}`;
  const ending = state.form.endings.find((e) => e.key === key);
  return ending ? `${say("Ending")}: ${nameOf(ending)}` : key;
};

// logicOf says in lines what decides about a question or an ending.
export const logicOf = (member) => [
  ...member.show_if ? [say("Shown when {condition}", { condition: sentence(member.show_if) })] : [],
  ...(member.jumps ?? []).map((jump) => say("{condition}: go to {target}", { condition: sentence(jump.if), target: targetName(jump.to) })),
];

// partsOf takes a condition apart, or returns nothing for what this editor cannot say.
function partsOf(condition) {
  const list = condition.all ?? condition.any ?? [condition];
  const simple = (c) => {
    const field = c.field && byKey(c.field);
    if (!c.field) return false;
    if (!field) return true;
    const type = typeOf(kindOf(field));
    return kindOps(field).includes(c.op) && (!needsValue(c.op) || typeof c.value !== "object" && (type !== "truth" || typeof c.value === "boolean"));
  };
  return list.length && list.every(simple) ? { mode: condition.any ? "any" : "all", list } : null;
}
const together = (mode, list) => list.length > 1 ? { [mode]: list } : list[0];

function firstValue(field) {
  switch (typeOf(kindOf(field))) {
    case "choice": case "list": return field.options?.find((o) => o.value)?.value ?? "";
    case "truth": return true;
    case "number": return field.min ?? 0;
    default: return "";
  }
}
function compareWith(field) {
  const [op] = kindOps(field);
  return needsValue(op) ? { field: field.key, op, value: firstValue(field) } : { field: field.key, op };
}

const select = (label, value, choices, onchange) => h("select", { "aria-label": label, value, onchange: (e) => onchange(e.target.value) },
  choices.map(([v, words]) => h("option", { key: v, value: v }, words)));

function valueControl(c, field, set) {
  const type = field ? typeOf(kindOf(field)) : "text";
  const label = say("Answer");
  if (type === "truth") return select(label, `${c.value}`, [["true", say("Yes")], ["false", say("No")]], (v) => set(v === "true"));
  if (type === "choice" || type === "list") {
    const choices = (field.options ?? []).filter((o) => o.value).map((o) => [o.value, short(o.label)]);
    if (!choices.some(([v]) => v === c.value)) choices.unshift([c.value ?? "", c.value ? `“${c.value}”` : say("Choose…")]);
    return select(label, c.value, choices, set);
  }
  const computed = field && kindOf(field).properties.includes("expression");
  const read = (text) => (type === "number" || computed) && text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : type === "number" ? undefined : text;
  const input = type === "number" ? "number" : type === "moment" ? momentInput(kindOf(field)) : "text";
  return h("input", { "aria-label": label, type: input, step: type === "number" ? "any" : null, value: c.value ?? "", oninput: (e) => set(read(e.target.value), "value") });
}

// conditionEditor edits one condition. set takes the next one, or nothing.
export function conditionEditor({ id, lead, condition, before, set, empty }) {
  const asked = before.filter((f) => kindOf(f).answered && f.key);
  if (!condition) {
    if (!asked.length) return h("p", { class: "faint" }, say("Answers to earlier questions can decide this."));
    return h("p", { class: "always" }, h("span", null, empty ?? say("Always")),
      h("button", { type: "button", class: "small", onclick: () => set(compareWith(asked.at(-1))) }, icon("branch"), say("Only when…")));
  }
  const parts = partsOf(condition);
  if (!parts) {
    return h("div", { class: "sentence" }, h("p", null, lead, " ", sentence(condition)),
      h("p", { class: "faint" }, say("This condition was made elsewhere and is kept as it is.")),
      h("button", { type: "button", class: "small", onclick: () => set(undefined) }, say("Replace it")));
  }
  const { mode, list } = parts;
  const swap = (i, c, tag) => set(together(mode, list.map((x, n) => n === i ? c : x)), tag);
  return h("div", { class: "sentence" },
    h("p", null, lead, list.length > 1 && [" ", select(say("How many"), mode, [["all", say("all of these hold")], ["any", say("one of these holds")]], (m) => set({ [m]: list }))]),
    h("ul", null, list.map((c, i) => {
      const field = byKey(c.field);
      const choices = asked.map((f) => [f.key, `${numberOf(f)}. ${nameOf(f)}`]);
      if (!asked.includes(field)) choices.push([c.field, `“${field ? nameOf(field) : c.field}”`]);
      return h("li", { key: i },
        select(say("Question"), c.field, choices, (key) => swap(i, compareWith(byKey(key)))),
        h("div", { class: "pair" },
          select(say("Comparison"), c.op, (field ? kindOps(field) : [c.op]).map((op) => [op, opWord(field, op)]), (op) =>
            swap(i, needsValue(op) ? { field: c.field, op, value: c.value ?? (field && firstValue(field)) } : { field: c.field, op })),
          needsValue(c.op) && valueControl(c, field, (value, tag) => swap(i, { field: c.field, op: c.op, value }, tag && `${id}.${i}`)),
          tool("close", say("Remove this condition"), { onclick: () => set(together(mode, list.filter((x, n) => n !== i))) })));
    })),
    asked.length > 0 && h("button", { type: "button", class: "small", onclick: () => set({ [mode]: [...list, compareWith(asked.at(-1))] }) },
      icon("plus"), mode === "all" ? say("and …") : say("or …")));
}

export function jumpsEditor({ id, field, set }) {
  const at = state.form.fields.indexOf(field);
  const targets = [
    ...state.form.fields.slice(at + 1).filter((f) => isBreak(f) && f.key), ...state.form.endings.filter((e) => e.key),
  ].map((m) => [m.key, targetName(m.key)]);
  const jumps = field.jumps ?? [];
  const before = state.form.fields.slice(0, at + 1);
  const asked = before.filter((f) => kindOf(f).answered && f.key);
  if (!targets.length && !jumps.length) return h("p", { class: "faint" }, say("Add another page or an ending to lead people there."));
  const swap = (i, jump, tag) => set(jumps.map((x, n) => n === i ? jump : x), tag);
  return [
    jumps.map((jump, i) => h("div", { class: "jump", key: i },
      conditionEditor({
        id: `${id}.${i}`, lead: say("After this page, when"), empty: say("After this page, always"), condition: jump.if, before,
        set: (c, tag) => swap(i, c ? { if: c, to: jump.to } : { to: jump.to }, tag),
      }),
      h("div", { class: "pair" }, h("span", null, say("go to")),
        select(say("Where to"), jump.to, targets.some(([key]) => key === jump.to) ? targets : [[jump.to, targetName(jump.to)], ...targets], (to) => swap(i, { ...jump, to })),
        tool("close", say("Remove this jump"), { onclick: () => set(jumps.filter((x, n) => n !== i)) })))),
    targets.length > 0 && h("button", { type: "button", class: "small", key: "more", onclick: () =>
      set([...jumps, asked.length ? { if: compareWith(asked.at(-1)), to: targets[0][0] } : { to: targets[0][0] }]) },
    icon("branch"), say("Lead somewhere else…")),
  ];
}
