// Shows and hides conditional questions while the respondent answers, and the results of
// calculations. The server checks the conditions again.

const rankingKeys = new Set(); // questions whose answers are lists in order
const equalLists = (a, b) => a.length === b.length && a.every((v, i) => v === b[i]);
function equals(answer, { field, value }) {
  if (!Array.isArray(answer)) return typeof answer !== "object" && answer === value;
  if (!Array.isArray(value)) return false;
  return rankingKeys.has(field) ? equalLists(answer, value) : equalLists([...answer].sort(), [...value].sort());
}

function contains(answer, value) {
  if (typeof value !== "string") return false;
  if (typeof answer === "string") return answer.toLowerCase().includes(value.toLowerCase());
  return Array.isArray(answer) && answer.includes(value);
}

// compare returns a negative or positive number or 0, or undefined if the two cannot be
// compared.
function compare(answer, value) {
  if (typeof answer !== typeof value || !["number", "string"].includes(typeof answer)) return undefined;
  return answer < value ? -1 : answer > value ? 1 : 0;
}

export function matches(condition, answers) {
  if (!condition) return true;
  if (condition.all) return condition.all.every((c) => matches(c, answers));
  if (condition.any) return condition.any.some((c) => matches(c, answers));
  if (condition.not) return !matches(condition.not, answers);
  const answer = answers[condition.field];
  const isAnswered = answer !== undefined;
  const order = isAnswered ? compare(answer, condition.value) : undefined;
  switch (condition.op) {
    case "answered": return isAnswered;
    case "not_answered": return !isAnswered;
    case "equals": return isAnswered && equals(answer, condition);
    case "not_equals": return !isAnswered || !equals(answer, condition);
    case "contains": return isAnswered && contains(answer, condition.value);
    case "greater": return order > 0;
    case "less": return order < 0;
    case "at_least": return order >= 0;
    case "at_most": return order <= 0;
  }
  return false;
}

// isChanged reports whether a control differs from what the server sent.
export function isChanged(control) {
  if (control.type === "radio" || control.type === "checkbox") return control.checked !== control.defaultChecked;
  if (control.options) return [...control.options].some((option, i) => option.selected !== option.defaultSelected && (i > 0 || control.value !== option.value));
  return control.value !== control.defaultValue;
}

// normalizeNumber removes group separators and uses a decimal point, as the server does.
// Only the server also reads digits of other scripts.
export function normalizeNumber(text) {
  const decimal = document.querySelector("[data-decimal]")?.dataset.decimal ?? ".";
  const other = decimal === "." ? "," : ".";
  const compact = text.replace(/[\s'’]/g, "");
  const last = Math.max(compact.lastIndexOf(decimal), compact.lastIndexOf(other));
  if (compact.includes(decimal) && compact.includes(other)) {
    return `${compact.slice(0, last).replace(/[.,]/g, "")}.${compact.slice(last + 1)}`;
  }
  const isGrouped = /^[+-]?\d{1,3}([.,]\d{3})+$/.test(compact) && (compact.includes(other) || compact.split(decimal).length > 2);
  return isGrouped ? compact.replace(/[.,]/g, "") : compact.replace(",", ".");
}

// readDate reads the parts of a date, and its time if there is one.
export function readDate(key, data) {
  const [year, month, day, time] = ["year", "month", "day", "time"].map((part) => (data.get(`${key}.${part}`) ?? "").trim());
  if (!year && !month && !day && !time) return (data.get(key) ?? "").trim();
  const date = [year, month, day].map((text) => text.padStart(2, "0")).join("-");
  return data.has(`${key}.time`) ? `${date}T${time}` : date;
}

// readAnswer reads the controls of a question as the server does.
function readAnswer(field, data) {
  const text = (data.get(field.key) ?? "").trim();
  const prefix = `${field.key}.`;
  const resolveOther = (value) => value === "_other" ? (data.get(`${prefix}other`) ?? "").trim() : value;
  const parts = () => [...data.entries()].filter(([name]) => name.startsWith(prefix));
  switch (field.shape) {
    case "parts":
      return parts().some(([, value]) => value.trim() !== "") ? {} : undefined;
    case "ranking": {
      const ranked = parts().filter(([, rank]) => rank.trim() !== "").sort((a, b) => a[1] - b[1]);
      const isValid = new Set(ranked.map(([, rank]) => Number(rank))).size === ranked.length && ranked.every(([, rank]) => Number(rank) > 0);
      return isValid && ranked.length ? ranked.map(([name]) => name.slice(prefix.length)) : undefined;
    }
    case "date":
      return readDate(field.key, data) || undefined;
    case "list": {
      const values = data.getAll(field.key).map(resolveOther).filter((value) => value !== "");
      return values.length ? values : undefined;
    }
  }
  if (text === "" || data.get(`${prefix}none`)) return undefined;
  if (field.shape === "boolean") return text === "true";
  if (field.shape === "decimal") return Number(normalizeNumber(text));
  if (field.shape === "number") return Number(text);
  return resolveOther(text) || undefined;
}

// watchConditions updates the questions on each input. It returns a function that updates
// them after other changes.
function watchConditions(form, logic) {
  const shownInput = form.elements.namedItem("_shown");
  for (const key of logic.ranked ?? []) rankingKeys.add(key);
  const update = () => {
    const answers = { ...logic.answers };
    const shown = new Set();
    for (const field of logic.fields) {
      const box = document.getElementById(`q-${field.key}`);
      const isShown = matches(field.show_if, answers);
      if (box && field.show_if) {
        box.hidden = !isShown;
        box.disabled = !isShown;
      }
      if (!isShown) continue;
      shown.add(field.key);
      const answer = readAnswer(field, new FormData(form));
      if (answer !== undefined) answers[field.key] = answer;
    }
    const conditional = new Set(logic.fields.filter((f) => f.show_if).map((f) => f.key));
    const unconditional = shownInput.value.split(",").filter((key) => key && !conditional.has(key));
    shownInput.value = [...unconditional, ...[...conditional].filter((key) => shown.has(key))].join(",");
  };
  form.addEventListener("input", update);
  form.addEventListener("change", update);
  update();
  return update;
}

// watchCalculations asks the server for the results of calculations after each input. If
// the request fails, the next page shows them.
function watchCalculations(form, logic, updateConditions) {
  const outputs = form.querySelectorAll("output[data-result]");
  let timer;
  let latestRequest = 0;
  const calculate = async () => {
    const request = ++latestRequest;
    const data = new URLSearchParams(new FormData(form));
    data.set("_action", "look");
    const response = await fetch(form.getAttribute("action"), { method: "POST", body: data }).catch(() => null);
    if (!response?.ok) return;
    const results = await response.json();
    if (request !== latestRequest) return;
    for (const output of outputs) {
      const key = output.dataset.result;
      output.value = results[key]?.text || "–";
      if (results[key]) logic.answers[key] = results[key].value;
      else delete logic.answers[key];
    }
    updateConditions();
  };
  const calculateSoon = () => { clearTimeout(timer); timer = setTimeout(calculate, 250); };
  if (!outputs.length) return;
  form.addEventListener("input", calculateSoon);
  calculateSoon(); // answers may have changed before this script was loaded
}

// Moving a slider shows its value and clears "No answer".
function watchSliders(form) {
  for (const slider of form.querySelectorAll("input[type=range]")) {
    const show = () => {
      const noAnswer = form.elements.namedItem(`${slider.name}.none`);
      if (noAnswer) noAnswer.checked = false;
      form.querySelector(`output[data-slider="${slider.id}"]`).value = `${slider.value} ${slider.dataset.unit ?? ""}`;
    };
    slider.addEventListener("input", show);
    slider.addEventListener("restored", show);
    if (slider.value !== slider.defaultValue) show(); // moved before this script was loaded
  }
}

// Selecting "Other" focuses its text, but not while arrow keys pass through the options.
function watchOtherOptions(form) {
  for (const box of form.querySelectorAll(".other")) {
    const option = box.querySelector("label input");
    const focus = () => {
      const isPassing = option.type === "radio" && option.matches(":focus-visible");
      if (option.checked && !isPassing) box.querySelector(":scope > input").focus();
    };
    option.addEventListener("change", focus);
    if (option === document.activeElement) focus(); // selected before this script was loaded
  }
}

// watch starts all of this. It returns a function that updates the conditional questions
// after answers were changed by a script.
export function watch(form) {
  const json = document.getElementById("logic")?.textContent;
  const logic = json ? JSON.parse(json) : { answers: {}, fields: [] };
  const update = json ? watchConditions(form, logic) : () => {};
  watchCalculations(form, logic, update);
  watchSliders(form);
  watchOtherOptions(form);
  return update;
}
