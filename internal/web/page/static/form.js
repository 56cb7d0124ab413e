// What the server decides anyway, this shows earlier: questions that depend on
// other answers of the same page come and go while people answer.

const ranked = new Set(); // keys of rankings, where the order matters
const sameList = (a, b) => a.length === b.length && a.every((v, i) => v === b[i]);
function same(answer, { field, value }) {
  if (!Array.isArray(answer)) return typeof answer !== "object" && answer === value;
  if (!Array.isArray(value)) return false;
  return ranked.has(field) ? sameList(answer, value) : sameList([...answer].sort(), [...value].sort());
}

function contains(answer, value) {
  if (typeof value !== "string") return false;
  if (typeof answer === "string") return answer.toLowerCase().includes(value.toLowerCase());
  return Array.isArray(answer) && answer.includes(value);
}

// order compares numbers by size and texts as texts; undefined: not comparable.
function order(answer, value) {
  if (typeof answer !== typeof value || !["number", "string"].includes(typeof answer)) return undefined;
  return answer < value ? -1 : answer > value ? 1 : 0;
}

export function holds(condition, answers) {
  if (!condition) return true;
  if (condition.all) return condition.all.every((c) => holds(c, answers));
  if (condition.any) return condition.any.some((c) => holds(c, answers));
  if (condition.not) return !holds(condition.not, answers);
  const answer = answers[condition.field];
  const answered = answer !== undefined;
  const by = answered ? order(answer, condition.value) : undefined;
  switch (condition.op) {
    case "answered": return answered;
    case "not_answered": return !answered;
    case "equals": return answered && same(answer, condition);
    case "not_equals": return !answered || !same(answer, condition);
    case "contains": return answered && contains(answer, condition.value);
    case "greater": return by > 0;
    case "less": return by < 0;
    case "at_least": return by >= 0;
    case "at_most": return by <= 0;
  }
  return false;
}

// canonical writes a number as programs do; as the server, but without the digits of
// other scripts, which it alone reads.
function canonical(text) {
  const sign = document.querySelector("[data-decimal]")?.dataset.decimal ?? ".";
  const other = sign === "." ? "," : ".";
  const plain = text.replace(/[\s'’]/g, "");
  const last = Math.max(plain.lastIndexOf(sign), plain.lastIndexOf(other));
  if (plain.includes(sign) && plain.includes(other)) {
    return `${plain.slice(0, last).replace(/[.,]/g, "")}.${plain.slice(last + 1)}`;
  }
  const grouped = /^[+-]?\d{1,3}([.,]\d{3})+$/.test(plain) && (plain.includes(other) || plain.split(sign).length > 2);
  return grouped ? plain.replace(/[.,]/g, "") : plain.replace(",", ".");
}

// answerTo reads the controls of a question as the server would.
function answerTo(field, data) {
  const one = (data.get(field.key) ?? "").trim();
  const own = (value) => value === "_other" ? (data.get(`${field.key}.other`) ?? "").trim() : value;
  if (field.shape === "parts") {
    const given = [...data.entries()].some(([name, value]) => name.startsWith(`${field.key}.`) && value.trim() !== "");
    return given ? {} : undefined;
  }
  if (field.shape === "places") {
    const start = `${field.key}.`;
    const all = [...data.entries()].filter(([name]) => name.startsWith(start));
    const places = all.filter(([, place]) => place !== "").sort((a, b) => a[1] - b[1]);
    const whole = places.length === all.length && new Set(places.map(([, place]) => place)).size === all.length;
    return whole && all.length ? places.map(([name]) => name.slice(start.length)) : undefined;
  }
  if (field.shape === "list") {
    const list = data.getAll(field.key).map(own).filter((value) => value !== "");
    return list.length ? list : undefined;
  }
  if (one === "" || data.get(`${field.key}.none`)) return undefined;
  if (field.shape === "boolean") return one === "true";
  if (field.shape === "decimal") return Number(canonical(one));
  if (field.shape === "number") return Number(one);
  return own(one) || undefined;
}

// watch returns what to do when answers come from elsewhere.
function watch(form, logic) {
  const seen = form.elements.namedItem("_shown");
  for (const key of logic.ranked ?? []) ranked.add(key);
  const apply = () => {
    const answers = { ...logic.answers };
    const shown = new Set();
    for (const field of logic.fields) {
      const box = document.getElementById(`q-${field.key}`);
      const asked = holds(field.show_if, answers);
      if (box && field.show_if) {
        box.hidden = !asked;
        box.disabled = !asked;
      }
      if (!asked) continue;
      shown.add(field.key);
      const answer = answerTo(field, new FormData(form));
      if (answer !== undefined) answers[field.key] = answer;
    }
    const conditional = new Set(logic.fields.filter((f) => f.show_if).map((f) => f.key));
    const kept = seen.value.split(",").filter((key) => key && !conditional.has(key));
    seen.value = [...kept, ...[...conditional].filter((key) => shown.has(key))].join(",");
  };
  form.addEventListener("input", apply);
  form.addEventListener("change", apply);
  apply();
  return apply;
}

// What is calculated, the server works out: it knows all answers and the rules. What
// does not come in time is on the next page.
function watchResults(form, logic, apply) {
  const results = form.querySelectorAll("output[data-result]");
  let timer;
  let asked = 0;
  const look = async () => {
    const turn = ++asked;
    const data = new URLSearchParams(new FormData(form));
    data.set("_action", "look");
    const answer = await fetch(form.getAttribute("action"), { method: "POST", body: data }).catch(() => null);
    if (!answer?.ok) return;
    const found = await answer.json();
    if (turn !== asked) return;
    for (const result of results) {
      const key = result.dataset.result;
      result.value = found[key]?.text || "–";
      if (found[key]) logic.answers[key] = found[key].value;
      else delete logic.answers[key];
    }
    apply();
  };
  if (results.length) form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(look, 250); });
}

// A slider that is moved has an answer, and says which.
function watchSliders(form) {
  for (const slider of form.querySelectorAll("input[type=range]")) {
    slider.addEventListener("input", () => {
      const none = form.elements.namedItem(`${slider.name}.none`);
      if (none) none.checked = false;
      form.querySelector(`output[data-of="${slider.id}"]`).value = `${slider.value} ${slider.dataset.unit ?? ""}`;
    });
  }
}

// Who says something else means it.
function watchOthers(form) {
  for (const own of form.querySelectorAll(".other > input")) {
    const tick = own.parentElement.querySelector("label input");
    own.addEventListener("input", () => {
      if (!own.value.trim() || tick.checked) return;
      tick.checked = true;
      tick.dispatchEvent(new Event("change", { bubbles: true }));
    });
    tick.addEventListener("change", () => { if (!tick.checked) own.value = ""; });
  }
}

// In a frame, the page says how high it is, and where to look: browsers do not let it
// move the page around it.
function tellHeight() {
  if (parent === window) return;
  const first = document.querySelector("form.answer > p.problem") ?? document.getElementById(form?.dataset.focus);
  if (first && first.tabIndex < 0) first.tabIndex = -1;
  first?.focus({ preventScroll: true });
  const question = first?.closest(".question") ?? first;
  const tell = () => parent.postMessage({ formularyHeight: document.documentElement.offsetHeight }, "*");
  new ResizeObserver(tell).observe(document.body);
  tell();
  const on = document.querySelector("a[data-leads]");
  if (on) parent.postMessage({ formularyTo: on.href }, "*");
  parent.postMessage({ formularyAt: question ? question.getBoundingClientRect().top : null }, "*");
}

const form = document.querySelector("form.answer");
if (form) {
  const text = document.getElementById("logic")?.textContent;
  const logic = text ? JSON.parse(text) : { answers: {}, fields: [] };
  watchResults(form, logic, text ? watch(form, logic) : () => {});
  watchSliders(form);
  watchOthers(form);
}
tellHeight();
