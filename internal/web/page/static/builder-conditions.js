// Editors of conditions and jumps. They are loaded with the panel.

import { h, iconButton, linkButton, quote, select, t } from "./vdom.js";
import { isPageBreak, kindOf, questionNumber, state } from "./builder-state.js";
import { describeCondition, describeTarget, displayName, fieldByKey, needsValue, operatorLabel, quotedName, truncate, typeOf } from "./builder-logic.js";

document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/static/builder-conditions.css" }));

const equality = ["equals", "not_equals"];
const ordering = [...equality, "greater", "less", "at_least", "at_most"];
const operatorsByType = {
  choice: equality, boolean: equality, list: ["contains"], composite: [], number: ordering, date: ordering,
  text: [...equality, "contains"], calculated: [...ordering, "contains"],
};
const operatorsFor = (field) => [...operatorsByType[typeOf(field)], "answered", "not_answered"];

// Other conditions, which the API allows, are only described.
function isEditable(comparison) {
  const field = fieldByKey(comparison.field);
  return comparison.field && (!field || operatorsFor(field).includes(comparison.op)
    && (!needsValue(comparison.op) || typeof comparison.value !== "object" && (typeOf(field) !== "boolean" || typeof comparison.value === "boolean")));
}
const combine = (mode, list) => list.length > 1 ? { [mode]: list } : list[0];

const initialValue = (field) => ({ choice: field.options?.[0]?.value, list: field.options?.[0]?.value, boolean: true, number: field.min ?? 0 })[typeOf(field)] ?? "";
const newComparison = (field, op = operatorsFor(field)[0], value = initialValue(field)) => ({ field: field.key, op, ...needsValue(op) && { value } });

function valueInput(comparison, field, setValue) {
  const type = typeOf(field);
  const label = { "aria-label": t("Value") };
  if (type === "boolean") return select(comparison.value, [[true, t("Yes")], [false, t("No")]], (v) => setValue(v === "true"), label);
  if (type === "choice" || type === "list") {
    const options = field.options.filter((o) => o.value).map((o) => [o.value, truncate(o.label)]);
    if (!options.some(([v]) => v === comparison.value)) options.unshift([comparison.value, comparison.value || t("Select…")]);
    return select(comparison.value, options, setValue, label);
  }
  const parse = (text) => ["number", "calculated"].includes(type) && text.trim() && Number.isFinite(Number(text)) ? Number(text) : type === "number" ? undefined : text;
  return h("input", { ...label, type: field ? kindOf(field).input : "text", step: "any", value: comparison.value, oninput: (e) => setValue(parse(e.target.value), "value") });
}

const answerable = (fields) => fields.filter((f) => kindOf(f).has_answer && f.key);

// conditionEditor edits a condition on the fields that come before. onChange gets the new
// condition, or nothing if it was removed.
export function conditionEditor({ intro, empty = t("Always"), condition, before, onChange }) {
  const fields = answerable(before);
  if (!condition) {
    return fields.length ? h("p.no-condition", h("span", empty), linkButton("branch", t("Add condition"), () => onChange(newComparison(fields.at(-1)))))
      : h("p.muted", t("Add a question before this one to create a condition."));
  }
  const comparisons = condition.all ?? condition.any ?? [condition];
  if (!comparisons.length || !comparisons.every(isEditable)) {
    return h("div.condition", h("p", intro, " ", describeCondition(condition)), h("p.muted", t("This condition was created through the API and can’t be edited here.")),
      linkButton("", t("Replace condition"), () => onChange()));
  }
  const mode = condition.any ? "any" : "all";
  const replaceAt = (i, comparison, tag) => onChange(combine(mode, comparisons.toSpliced(i, 1, ...comparison ? [comparison] : [])), tag && `${tag}${i}`);
  const conjunctions = [["all", t("and")], ["any", t("or")]];
  // The first conjunction is edited, the others follow it.
  const conjunction = (i) => i === 1 ? select(mode, conjunctions, (m) => onChange({ [m]: comparisons }), { "aria-label": t("Match") }) : i > 1 && h("span", conjunctions[mode === "any" ? 1 : 0][1]);
  return h("div.condition",
    h("p.sentence", intro, " ", comparisons.map((c, i) => {
      const field = fieldByKey(c.field);
      const options = fields.map((f) => [f.key, quote(`${questionNumber(f)}. ${displayName(f)}`)]);
      if (!fields.includes(field)) options.push([c.field, quotedName(c.field)]);
      return h("span.comparison", { key: i }, conjunction(i), " ",
        select(c.field, options, (key) => replaceAt(i, newComparison(fieldByKey(key))), { "aria-label": t("Question") }), " ",
        select(c.op, (field ? operatorsFor(field) : [c.op]).map((op) => [op, operatorLabel(field, op)]), (op) => replaceAt(i, newComparison(field, op, c.value)), { "aria-label": t("Operator") }), " ",
        needsValue(c.op) && valueInput(c, field, (value, tag) => replaceAt(i, { field: c.field, op: c.op, value }, tag)),
        iconButton("close", t("Remove condition"), () => replaceAt(i)), " ");
    })),
    fields.length > 0 && linkButton("plus", t("Add condition"), () => onChange({ [mode]: [...comparisons, newComparison(fields.at(-1))] })));
}

export function jumpsEditor(field, onChange) {
  const { fields, endings } = state.form;
  const index = fields.indexOf(field);
  const before = fields.slice(0, index + 1);
  const jumps = field.jumps ?? [];
  const targets = [...fields.slice(index + 1).filter(isPageBreak), ...endings].filter((m) => m.key).map((m) => [m.key, describeTarget(m.key)]);
  if (!targets.length && !jumps.length) return h("p.muted", t("Add another page or an ending to jump to."));
  const replaceAt = (i, jump, tag) => onChange(jumps.toSpliced(i, 1, ...jump ? [jump] : []), tag && `${tag}${i}`);
  return [
    jumps.map((jump, i) => h("div.jump", { key: i },
      conditionEditor({
        intro: t("After this page, if"), empty: t("After this page, always"), condition: jump.if, before,
        onChange: (condition, tag) => replaceAt(i, { ...condition && { if: condition }, to: jump.to }, tag),
      }),
      h("p.sentence", h("span", t("go to")), " ",
        select(jump.to, targets.some(([key]) => key === jump.to) ? targets : [[jump.to, describeTarget(jump.to)], ...targets], (to) => replaceAt(i, { ...jump, to }), { "aria-label": t("Destination") }),
        iconButton("close", t("Remove jump"), () => replaceAt(i))))),
    targets.length > 0 && linkButton("branch", t("Add jump"), () =>
      onChange([...jumps, { ...answerable(before).length && { if: newComparison(answerable(before).at(-1)) }, to: targets[0][0] }])),
  ];
}
