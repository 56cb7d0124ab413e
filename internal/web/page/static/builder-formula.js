// The editor of formulas: completes keys and functions, shows the result for sample answers
// and where a mistake is.

import { h, t } from "./vdom.js";
import { kindOf, state } from "./builder-state.js";
import { displayName } from "./builder-logic.js";

const functions = {
  abs: "abs(n)", ceil: "ceil(n)", floor: "floor(n)", round: "round(n, 2)", min: "min(a, b)", max: "max(a, b)", len: "len(list)", int: "int(n)", float: "float(n)", string: "string(n)",
  trim: "trim(text)", lower: "lower(text)", upper: "upper(text)", hasPrefix: "hasPrefix(text, start)", hasSuffix: "hasSuffix(text, end)", indexOf: "indexOf(text, part)",
};

// suggestions are the keys and functions that start with the word before the cursor, or keys
// of questions with the word in their label.
function suggestions(member, word) {
  if (!word) return [];
  const typed = word.toLowerCase();
  const { fields } = state.form;
  const keys = fields.slice(0, fields.indexOf(member)).filter((f) => kindOf(f).has_answer && f.key && f.key !== word
    && (f.key.startsWith(typed) || displayName(f).toLowerCase().includes(typed))).map((f) => ({ text: f.key, hint: displayName(f) }));
  const names = Object.keys(functions).filter((name) => name !== word && name.toLowerCase().startsWith(typed)).map((name) => ({ text: `${name}(`, hint: functions[name] }));
  return [...keys, ...names].slice(0, 8);
}
const wordBefore = ({ value, selectionStart, selectionEnd }) => selectionStart === selectionEnd ? value.slice(0, selectionStart).match(/[A-Za-z_]\w*$/)?.[0] ?? "" : "";

let open = null; // { uid, list, index } while suggestions are shown
let trial = {}; // of the formula { uid, formula }: what the server said
let timer = 0;

async function tryFormula(member, render) {
  const { _uid: uid, id, expression: formula = "" } = member;
  if (trial.uid === uid && trial.formula === formula || !formula.trim()) return;
  trial = { ...trial.uid === uid && trial, uid, formula };
  clearTimeout(timer);
  timer = setTimeout(async () => {
    const response = await fetch(`/forms/${state.meta.id}/formula`, { method: "POST", redirect: "manual", body: JSON.stringify({ field: id, expression: formula }) }).catch(() => null);
    const result = response?.ok && await response.json().catch(() => null);
    if (!result || trial.uid !== uid || trial.formula !== formula) return;
    trial = { uid, formula, result, shown: formula };
    render();
  }, 900); // after the draft was saved: the server uses its questions
}

function outcome(member) {
  const { result, shown } = trial.uid === member._uid ? trial : {};
  if (!result) return null;
  if (result.problem) {
    return h("p.formula-outcome.wrong", { role: "status" }, result.to > result.from
      && h("code", { dir: "ltr" }, shown.slice(0, result.from), h("mark", shown.slice(result.from, result.to)), shown.slice(result.to)), h("span", result.problem));
  }
  const sample = result.sample.map(({ label, answer }) => `${label}: ${answer || "–"}`).join(", ");
  return h("p.formula-outcome", { role: "status" }, h("output", `= ${result.result || "–"}`), h("span.muted", sample ? t("Sample: {answers}", { answers: sample }) : t("Sample")));
}

// formulaEditor returns the control and what belongs below it.
export function formulaEditor(member, set, render) {
  const close = () => { open = null; render(); };
  const accept = (target, { text }) => {
    const end = target.selectionStart;
    const start = end - wordBefore(target).length;
    target.setRangeText(text, start, end, "end");
    open = null;
    set(target.value, true);
  };
  const update = (target) => {
    const list = suggestions(member, wordBefore(target));
    open = list.length ? { uid: member._uid, list, index: 0 } : null;
  };
  const isOpen = open?.uid === member._uid;
  const control = h("textarea.code", {
    rows: 2, dir: "ltr", spellcheck: "false", autocapitalize: "none", value: member.expression, role: "combobox", "aria-autocomplete": "list", "aria-expanded": `${isOpen}`,
    "aria-controls": "formula-suggestions", "aria-activedescendant": isOpen ? `formula-suggestion-${open.index}` : null,
    oninput: (e) => { update(e.target); set(e.target.value, true); },
    onblur: () => setTimeout(() => { if (open) close(); }, 150),
    onkeydown(e) {
      if (!open || e.isComposing) return;
      const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
      if (step) open.index = (open.index + step + open.list.length) % open.list.length;
      else if (e.key === "Enter" || e.key === "Tab") accept(e.target, open.list[open.index]);
      else if (e.key === "Escape") open = null;
      else return;
      e.preventDefault();
      e.stopPropagation();
      render();
    },
  });
  const list = h("ul.suggestions", { id: "formula-suggestions", role: "listbox", "aria-label": t("Suggestions"), hidden: isOpen ? null : true },
    isOpen && open.list.map((s, i) => h("li", {
      key: s.text, id: `formula-suggestion-${i}`, role: "option", "aria-selected": `${i === open.index}`,
      onmousedown: (e) => { e.preventDefault(); accept(document.getElementById("p-expression"), s); },
    }, h("code", s.text), h("span.muted", s.hint))));
  tryFormula(member, render);
  return [control, h("div.formula-help", { key: "formula-help" }, list, outcome(member))];
}
