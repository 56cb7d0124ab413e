// Logic in sentences: conditions and jumps, said and edited.

import { h, quote, say, select, small, tool } from "./vdom.js";
import { isBreak, kindOf, numberOf, pageOf, state } from "./builder-state.js";

const comparing = {
  equals: say("is"), not_equals: say("is not"), contains: say("contains"), greater: say("is greater than"), less: say("is less than"),
  at_least: say("is at least"), at_most: say("is at most"), answered: say("is answered"), not_answered: say("is not answered"),
};
const moments = { greater: say("is after"), less: say("is before"), at_least: say("is on or after"), at_most: say("is on or before") };
const same = ["equals", "not_equals"];
const size = [...same, "greater", "less", "at_least", "at_most"];
const ops = { choice: same, truth: same, list: ["contains"], thing: [], number: size, moment: size, text: [...same, "contains"], result: [...size, "contains"] };

const typeFor = (field) => field ? kindOf(field).type : "text";
const opsFor = (field) => [...ops[typeFor(field)], "answered", "not_answered"];
const opWord = (field, op) => typeFor(field) === "moment" && moments[op] || comparing[op];
const valued = (op) => !op.endsWith("answered");

export const short = (text) => text.length > 48 ? `${text.slice(0, 47)}…` : text;
export const nameOf = (m) => short(m.label || m.title || (m.kind ? say(kindOf(m).title) : say("Ending")));
const byKey = (key) => state.form.fields.find((f) => f.key === key);
const quoted = (key) => quote(byKey(key) ? nameOf(byKey(key)) : key);

const valueWords = (field, value) => typeof value === "boolean" ? value ? say("Yes") : say("No")
  : field?.options?.find((o) => o.value === value)?.label ?? (typeof value === "object" ? JSON.stringify(value) : value ?? "…");

export function sentence(c) {
  if (!c) return say("always");
  if (c.not) return `${say("not")} (${sentence(c.not)})`;
  if (!c.field) return (c.all ?? c.any).map((part) => part.field ? sentence(part) : `(${sentence(part)})`).join(c.all ? ` ${say("and")} ` : ` ${say("or")} `);
  const field = byKey(c.field);
  return `${quoted(c.field)} ${opWord(field, c.op)}${valued(c.op) ? ` ${valueWords(field, c.value)}` : ""}`;
}

export function targetName(key) {
  const page = byKey(key);
  const ending = state.form.endings.find((e) => e.key === key);
  if (page) return say("Page {n}", { n: pageOf(page._uid) + 1 }) + (page.label ? `: ${short(page.label)}` : "");
  return ending ? `${say("Ending")}: ${nameOf(ending)}` : key;
}

// An ending for everybody leaves nobody for those after it.
function unreached(m) {
  const { fields, endings } = state.form;
  return endings.slice(0, Math.max(0, endings.indexOf(m))).some((e) => !e.show_if) && !fields.some((f) => f.jumps?.some((jump) => jump.to === m.key));
}

export const logicOf = (m) => [
  unreached(m) && say("No respondent can reach this ending, because an ending above it has no condition. Add a condition to that ending or move it down."),
  m.show_if && say("Shown if {condition}", { condition: sentence(m.show_if) }),
  ...(m.jumps ?? []).map((jump) => jump.if ? say("If {condition}, go to {target}", { condition: sentence(jump.if), target: targetName(jump.to) }) : say("Go to {target}", { target: targetName(jump.to) })),
].filter(Boolean);

function simple(c) {
  const field = byKey(c.field);
  return c.field && (!field || opsFor(field).includes(c.op) && (!valued(c.op) || typeof c.value !== "object" && (typeFor(field) !== "truth" || typeof c.value === "boolean")));
}
const together = (mode, list) => list.length > 1 ? { [mode]: list } : list[0];

const firstValue = (field) => ({ choice: field.options?.[0]?.value, list: field.options?.[0]?.value, truth: true, number: field.min ?? 0 })[typeFor(field)] ?? "";
const compareWith = (field, op = opsFor(field)[0], value = firstValue(field)) => ({ field: field.key, op, ...valued(op) && { value } });

function valueControl(c, field, set) {
  const type = typeFor(field);
  const named = { "aria-label": say("Value") };
  if (type === "truth") return select(c.value, [[true, say("Yes")], [false, say("No")]], (v) => set(v === "true"), named);
  if (type === "choice" || type === "list") {
    const choices = field.options.filter((o) => o.value).map((o) => [o.value, short(o.label)]);
    if (!choices.some(([v]) => v === c.value)) choices.unshift([c.value, c.value || say("Select…")]);
    return select(c.value, choices, set, named);
  }
  const read = (text) => ["number", "result"].includes(type) && text.trim() && Number.isFinite(Number(text)) ? Number(text) : type === "number" ? undefined : text;
  return h("input", { ...named, type: field ? kindOf(field).input : "text", step: "any", value: c.value, oninput: (e) => set(read(e.target.value), "value") });
}

const asked = (fields) => fields.filter((f) => kindOf(f).answered && f.key);

export function conditionEditor({ lead, empty = say("Always"), condition, before, set }) {
  const known = asked(before);
  if (!condition) {
    return known.length ? h("p.always", h("span", empty), small("branch", say("Add condition"), () => set(compareWith(known.at(-1)))))
      : h("p.muted", say("Add a question before this one to create a condition."));
  }
  const list = condition.all ?? condition.any ?? [condition];
  if (!list.length || !list.every(simple)) {
    return h("div.sentence", h("p", lead, " ", sentence(condition)), h("p.muted", say("This condition was created through the API and can’t be edited here.")),
      small("", say("Replace condition"), () => set()));
  }
  const mode = condition.any ? "any" : "all";
  const swap = (i, c, tag) => set(together(mode, list.toSpliced(i, 1, ...c ? [c] : [])), tag && `${tag}${i}`);
  return h("div.sentence",
    h("p", lead, " ", list.length > 1 && select(mode, [["all", say("all of these are true")], ["any", say("any of these is true")]], (m) => set({ [m]: list }), { "aria-label": say("Match") })),
    h("ul", list.map((c, i) => {
      const field = byKey(c.field);
      const choices = known.map((f) => [f.key, `${numberOf(f)}. ${nameOf(f)}`]);
      if (!known.includes(field)) choices.push([c.field, quoted(c.field)]);
      return h("li", { key: i },
        select(c.field, choices, (key) => swap(i, compareWith(byKey(key))), { "aria-label": say("Question") }),
        h("div.pair",
          select(c.op, (field ? opsFor(field) : [c.op]).map((op) => [op, opWord(field, op)]), (op) => swap(i, compareWith(field, op, c.value)), { "aria-label": say("Operator") }),
          valued(c.op) && valueControl(c, field, (value, tag) => swap(i, { field: c.field, op: c.op, value }, tag)),
          tool("close", say("Remove condition"), () => swap(i))));
    })),
    known.length > 0 && small("plus", say("Add condition"), () => set({ [mode]: [...list, compareWith(known.at(-1))] })));
}

export function jumpsEditor(field, set) {
  const { fields, endings } = state.form;
  const at = fields.indexOf(field);
  const before = fields.slice(0, at + 1);
  const jumps = field.jumps ?? [];
  const targets = [...fields.slice(at + 1).filter(isBreak), ...endings].filter((m) => m.key).map((m) => [m.key, targetName(m.key)]);
  if (!targets.length && !jumps.length) return h("p.muted", say("Add another page or an ending to jump to."));
  const swap = (i, jump, tag) => set(jumps.toSpliced(i, 1, ...jump ? [jump] : []), tag && `${tag}${i}`);
  return [
    jumps.map((jump, i) => h("div.jump", { key: i },
      conditionEditor({
        lead: say("After this page, if"), empty: say("After this page, always"), condition: jump.if, before,
        set: (c, tag) => swap(i, { ...c && { if: c }, to: jump.to }, tag),
      }),
      h("div.pair", h("span", say("go to")),
        select(jump.to, targets.some(([key]) => key === jump.to) ? targets : [[jump.to, targetName(jump.to)], ...targets], (to) => swap(i, { ...jump, to }), { "aria-label": say("Destination") }),
        tool("close", say("Remove jump"), () => swap(i))))),
    targets.length > 0 && small("branch", say("Add jump"), () =>
      set([...jumps, { ...asked(before).length && { if: compareWith(asked(before).at(-1)) }, to: targets[0][0] }])),
  ];
}
