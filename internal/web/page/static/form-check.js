// Checks answers before they are sent. The rules come from the server (internal/form/rule.go),
// which checks everything again; both run the cases of internal/form/testdata/rules.json.
import { isChanged, normalizeNumber, readDate } from "./form-logic.js";

// The server trims the white space of Unicode, which is not quite what trim() does.
const trim = (text) => text.replace(/^(?:[^\S\uFEFF]|\u0085)+|(?:[^\S\uFEFF]|\u0085)+$/g, "");
const isASCII = (text) => /^[\x20-\x7e]*$/.test(text);
const length = (text) => [...text.replace(/\r\n?/g, "\n")].length;
const isBlank = (value) => typeof value === "string" ? trim(value) === "" : !value.size;

// partsOf returns the parts of an answer that are not empty.
const partsOf = (key, data) => [...data.entries()].filter(([name, value]) => (name === key || name.startsWith(`${key}.`)) && !isBlank(value));

const textOf = (key, data) => { const value = data.get(key); return typeof value === "string" ? trim(value) : ""; };

// numberOf is NaN for text that is no number. Go reads some notations that JavaScript does
// not; they are left to the server.
function numberOf(key, data) {
  const text = normalizeNumber(textOf(key, data));
  return text === "" || !isASCII(text) || /^[+-]?0[xX]|_/.test(text) ? undefined : Number(text);
}

function picksOf(key, data) {
  const own = textOf(`${key}.other`, data);
  return new Set(data.getAll(key).map((value) => value === "_other" ? own : value).filter((value) => value !== ""));
}

function isDate(text) {
  const [date, time] = text.split("T");
  if (time !== undefined && !/^\d\d:\d\d$/.test(time)) return false;
  const parsed = /^\d{4}-\d\d-\d\d$/.test(date) ? new Date(`${date}T00:00Z`) : NaN;
  return !Number.isNaN(Number(parsed)) && parsed.toISOString().startsWith(date);
}

// Each test reports whether an answer breaks a rule.
const tests = {
  required: (key, data, hasParts) => hasParts ? partsOf(key, data).length === 0 : data.getAll(key).every(isBlank),
  max_length: (key, data, most) => length(textOf(key, data)) > most,
  min_length: (key, data, least) => textOf(key, data) !== "" && length(textOf(key, data)) < least,
  pattern: (key, data, pattern) => textOf(key, data) !== "" && !new RegExp(pattern, "iu").test(textOf(key, data)),
  number: (key, data) => Number.isNaN(numberOf(key, data)),
  min: (key, data, least) => numberOf(key, data) < least,
  max: (key, data, most) => numberOf(key, data) > most,
  step: (key, data, { from, step }) => { const steps = (numberOf(key, data) - from) / step; return Math.abs(steps - Math.round(steps)) > 1e-6; },
  min_picks: (key, data, least) => picksOf(key, data).size > 0 && picksOf(key, data).size < least,
  max_picks: (key, data, most) => picksOf(key, data).size > most,
  other: (key, data) => data.getAll(key).includes("_other") && textOf(`${key}.other`, data) === "",
  parts: (key, data, names) => partsOf(key, data).length > 0 && names.some((name) => textOf(`${key}.${name}`, data) === ""),
  ranks: (key, data, least) => {
    const ranks = partsOf(key, data).map(([, rank]) => trim(rank)).filter(isASCII);
    return new Set(ranks.map(Number)).size < ranks.length || ranks.some((rank) => !/^[+-]?\d+$/.test(rank) || Number(rank) < 1) || (partsOf(key, data).length > 0 && partsOf(key, data).length < least);
  },
  date: (key, data) => { const text = readDate(key, data); return text !== "" && isASCII(text) && !isDate(text); },
  earliest: (key, data, first) => { const text = readDate(key, data); return text !== "" && isASCII(text) && text < first; },
  latest: (key, data, last) => { const text = readDate(key, data); return text !== "" && isASCII(text) && text > last; },
};

// firstProblem returns the first rule that the answer breaks.
export function firstProblem({ key, rules }, data) {
  return rules.find(({ test, value }) => tests[test]?.(key, data, value));
}

// problemText names the valid number below a number that is between two steps.
function problemText(rule, key, data) {
  if (rule.test !== "step") return rule.text;
  const { from, step } = rule.value;
  const below = from + Math.floor((numberOf(key, data) - from) / step) * step;
  const decimal = document.querySelector("[data-decimal]")?.dataset.decimal ?? ".";
  return rule.text.replace("{number}", String(Math.round(below * 1e6) / 1e6).replace(".", decimal));
}

const icon = `<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round"><circle cx="12" cy="12" r="9"/><path d="M12 7.500v5M12 16.200v.1"/></svg>`;

// Checker shows problems beside their questions, as the server does, and removes them with
// the change that solves them.
export class Checker {
  constructor(form, { questions, texts }) {
    this.form = form;
    this.questions = questions;
    this.texts = texts;
    form.addEventListener("input", (event) => this.recheck(event.target));
    form.addEventListener("change", (event) => this.recheck(event.target));
    form.addEventListener("focusout", (event) => this.leave(event));
    for (const control of form.elements) if (isChanged(control)) this.recheck(control); // before the rules were loaded
  }

  // boxOf returns the element of a question, unless it is not shown.
  boxOf(key) {
    const box = document.getElementById(key)?.closest(".question");
    return !box || box.closest("fieldset[disabled]") ? null : box;
  }

  questionOf(element) {
    return this.questions.find(({ key }) => document.getElementById(key)?.closest(".question")?.contains(element));
  }

  problemOf(question) {
    const data = new FormData(this.form);
    const rule = firstProblem(question, data);
    return rule && { isMissing: rule.test === "required", text: problemText(rule, question.key, data) };
  }

  // recheck checks a question again that has a problem. Scripts report changes of files with
  // an event of the form.
  recheck(element) {
    const changed = element === this.form ? this.questions : [this.questionOf(element)];
    for (const question of changed) {
      if (!question || !document.getElementById(`problem-${question.key}`)) continue;
      const problem = this.problemOf(question);
      if (problem) this.show(question.key, problem.text);
      else this.remove(question.key);
    }
  }

  // leave checks an answer when the focus moves to another question.
  leave({ target, relatedTarget }) {
    const question = this.questionOf(target);
    const next = relatedTarget && this.questionOf(relatedTarget);
    if (!question || !next || next === question) return;
    const problem = this.problemOf(question);
    if (problem && !problem.isMissing) this.show(question.key, problem.text);
  }

  // checkAll checks all questions and focuses the first with a problem.
  checkAll() {
    let first;
    for (const question of this.questions) {
      const box = this.boxOf(question.key);
      const problem = box && this.problemOf(question);
      if (!problem) continue;
      this.show(question.key, problem.text);
      first ??= document.getElementById(question.key);
    }
    if (!first) return true;
    this.list(true);
    if (first.localName === "fieldset") first.tabIndex = -1;
    first.focus({ preventScroll: true });
    const box = first.closest(".question");
    if (parent === window) box.scrollIntoView({ block: "center" });
    else parent.postMessage({ formularyAt: box.getBoundingClientRect().top }, "*"); // see embed.js
    return false;
  }

  show(key, text) {
    const control = document.getElementById(key);
    let problem = document.getElementById(`problem-${key}`);
    if (!problem) {
      problem = Object.assign(document.createElement("p"), { className: "problem", id: `problem-${key}`, innerHTML: `${icon}<span></span>` });
      problem.setAttribute("role", "alert");
      control.closest(".question").append(problem);
      control.setAttribute("aria-describedby", `${control.getAttribute("aria-describedby") ?? ""} problem-${key}`.trim());
    }
    if (control.localName !== "fieldset") control.setAttribute("aria-invalid", "true");
    const span = problem.querySelector("span");
    if (span.textContent !== text) span.textContent = text;
    this.list(false);
  }

  // list updates the notice on top, which links to each question with a problem. On a page
  // with one question there is none.
  list(isNew) {
    let notice = this.form.querySelector(".problems");
    if (this.form.matches(".step") || !notice && !isNew) return;
    const links = [...this.form.querySelectorAll(".question > .problem")].map(({ id, parentElement }) => {
      const link = Object.assign(document.createElement("a"), { href: `#${id.replace("problem-", "")}` });
      link.textContent = parentElement.querySelector(".ask").firstChild.textContent.trim();
      return link;
    });
    if (!links.length) return notice.remove();
    if (!notice) {
      notice = Object.assign(document.createElement("div"), { className: "problem problems", innerHTML: `${icon}<div><b></b><ul></ul></div>` });
      notice.querySelector("b").textContent = this.texts.problems;
      this.form.querySelector(".sheet").prepend(notice);
    }
    notice.querySelector("ul").replaceChildren(...links.map((link) => {
      const item = document.createElement("li");
      item.append(link);
      return item;
    }));
  }

  remove(key) {
    const control = document.getElementById(key);
    document.getElementById(`problem-${key}`).remove();
    control.removeAttribute("aria-invalid");
    const rest = control.getAttribute("aria-describedby").split(" ").filter((id) => id !== `problem-${key}`).join(" ");
    if (rest) control.setAttribute("aria-describedby", rest);
    else control.removeAttribute("aria-describedby");
    this.list(false);
  }
}
