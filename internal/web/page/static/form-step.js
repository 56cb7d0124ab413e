// One question at a time: Enter continues, letters choose options, digits choose numbers, and
// one choice continues by itself. The server does the rest, so all of it works without.

const form = document.querySelector("form.step");
const question = form.querySelector(".sheet > .question");
const next = form.querySelector(".primary");
const hint = form.querySelector(".row > .key");
const isEnding = "last" in next.dataset; // only its button submits the form

const controls = question ? [...question.querySelectorAll("input:not([type=hidden]), select, textarea")] : [];
const options = controls.filter((c) => /radio|checkbox/.test(c.type));
const names = new Set(options.map((c) => c.name));
const isMatrix = names.size > 1 || question?.querySelector(".matrix");
const isNumbers = question?.querySelector(".scale");
const isOneChoice = options[0]?.type === "radio" && !isMatrix;

// Options that have a letter, by letter.
const letters = new Map();
if (!isMatrix && !isNumbers) options.slice(0, 26).forEach((option, i) => {
  const letter = String.fromCharCode(65 + i);
  const key = Object.assign(document.createElement("kbd"), { className: "key", textContent: letter });
  key.setAttribute("aria-hidden", "true");
  letters.set(letter, option);
  const label = option.closest("label, .choice");
  (label.matches(".radio-button") ? label.lastElementChild : label).append(key);
});
if (letters.size === 1) { // a single box needs no letter
  letters.clear();
  question.querySelector(".key").remove();
}
hint.hidden = false;

let timer;
// continueSoon lets the respondent see the choice. It does not submit the form.
function continueSoon(option) {
  clearTimeout(timer);
  if (!isOneChoice || isEnding || option.value === "_other") return;
  timer = setTimeout(() => form.requestSubmit(next), 350);
}

// Arrow keys choose while they move, so only a pointer or a letter continues.
let isPointer = false;
form.addEventListener("pointerdown", () => { isPointer = true; });
form.addEventListener("keydown", () => { isPointer = false; clearTimeout(timer); }, true);
form.addEventListener("click", ({ target }) => { if (isPointer && options.includes(target) && target.checked) continueSoon(target); });

function choose(option) {
  if (option.disabled) return;
  option.focus();
  option.click();
  if (option.checked) continueSoon(option);
}

let typed = ""; // digits so far, for numbers of two digits
let typedAt = 0;
function chooseNumber(digit) {
  const now = performance.now();
  const find = (value) => options.find((o) => o.value === value);
  const both = now - typedAt < 1500 ? typed + digit : digit;
  typed = find(both) ? both : digit;
  typedAt = now;
  const option = find(typed);
  if (option) { option.focus(); option.click(); }
}

const isTyping = (target) => target.matches("textarea, select, input:not([type=radio], [type=checkbox], [type=range])");
addEventListener("keydown", (event) => {
  const { key, code, target, ctrlKey, metaKey, altKey, defaultPrevented, isComposing } = event;
  if (defaultPrevented || isComposing || altKey || event.repeat) return;
  if (key === "Enter") {
    const isLong = target.matches("textarea, select");
    if (target.closest("button, a, summary, [contenteditable], input[type=file]") || isLong && !ctrlKey && !metaKey) return;
    event.preventDefault();
    form.requestSubmit(next);
    return;
  }
  if (ctrlKey || metaKey || isTyping(target) || !question?.contains(target)) return;
  if (isNumbers && /^\d$/.test(key)) chooseNumber(key);
  // Keyboards of other scripts have the letters at the same places.
  const letter = /^[a-z]$/i.test(key) ? key.toUpperCase() : /^Key[A-Z]$/.test(code) && key.length === 1 ? code[3] : "";
  if (letters.has(letter)) {
    event.preventDefault();
    choose(letters.get(letter));
  }
});

addEventListener("pageshow", () => clearTimeout(timer));

// Letters work while the focus is in the question. After a step the server puts it there.
if (parent === window && document.activeElement === document.body && question && !question.matches(".head")) {
  const target = question.matches("fieldset, section, p") ? question : controls[0];
  if (target === question) question.tabIndex = -1;
  target?.focus({ preventScroll: true });
}
