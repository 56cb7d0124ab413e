// Conditions and jumps, described in text.

import { quote, t } from "./vdom.js";
import { kindOf, pageIndexOf, state } from "./builder-state.js";

const operatorLabels = {
  equals: t("is"), not_equals: t("is not"), contains: t("contains"), greater: t("is greater than"), less: t("is less than"),
  at_least: t("is at least"), at_most: t("is at most"), answered: t("is answered"), not_answered: t("is not answered"),
};
const dateOperatorLabels = { greater: t("is after"), less: t("is before"), at_least: t("is on or after"), at_most: t("is on or before") };
export const typeOf = (field) => {
  const type = field ? kindOf(field).type : "text";
  return type === "picture" ? field.several ? "list" : "choice" : type;
};
export const operatorLabel = (field, op) => typeOf(field) === "date" && dateOperatorLabels[op] || operatorLabels[op];
export const needsValue = (op) => !op.endsWith("answered");

export const truncate = (text) => text.length > 48 ? `${text.slice(0, 47)}…` : text;
export const displayName = (member) => truncate(member.label || member.title || (member.kind ? t(kindOf(member).title) : t("Ending")));
export const fieldByKey = (key) => state.form.fields.find((f) => f.key === key);
export const quotedName = (key) => quote(fieldByKey(key) ? displayName(fieldByKey(key)) : key);

const displayValue = (field, value) => typeof value === "boolean" ? value ? t("Yes") : t("No")
  : field?.options?.find((o) => o.value === value)?.label ?? (typeof value === "object" ? JSON.stringify(value) : value ?? "…");

export function describeCondition(condition) {
  if (!condition) return t("always");
  if (condition.not) return `${t("not")} (${describeCondition(condition.not)})`;
  if (!condition.field) {
    return (condition.all ?? condition.any).map((part) => part.field ? describeCondition(part) : `(${describeCondition(part)})`)
      .join(condition.all ? ` ${t("and")} ` : ` ${t("or")} `);
  }
  const field = fieldByKey(condition.field);
  return `${quotedName(condition.field)} ${operatorLabel(field, condition.op)}${needsValue(condition.op) ? ` ${displayValue(field, condition.value)}` : ""}`;
}

export function describeTarget(key) {
  const page = fieldByKey(key);
  const ending = state.form.endings.find((e) => e.key === key);
  if (page) return t("Page {n}", { n: pageIndexOf(page._uid) + 1 }) + (page.label ? `: ${truncate(page.label)}` : "");
  return ending ? `${t("Ending")}: ${displayName(ending)}` : key;
}

// An ending without a condition makes those after it unreachable, unless a jump leads there.
function isUnreachable(member) {
  const { fields, endings } = state.form;
  return endings.slice(0, Math.max(0, endings.indexOf(member))).some((e) => !e.show_if) && !fields.some((f) => f.jumps?.some((jump) => jump.to === member.key));
}

export const describeLogic = (member) => [
  isUnreachable(member) && t("No respondent can reach this ending, because an ending above it has no condition. Add a condition to that ending or move it down."),
  member.show_if && t("Shown if {condition}", { condition: describeCondition(member.show_if) }),
  ...(member.jumps ?? []).map((jump) => jump.if
    ? t("If {condition}, go to {target}", { condition: describeCondition(jump.if), target: describeTarget(jump.to) })
    : t("Go to {target}", { target: describeTarget(jump.to) })),
].filter(Boolean);
