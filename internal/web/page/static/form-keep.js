// Keeps what the respondent typed on the device until it is sent, for 30 days at most: after
// a reload, a closed tab or a lost connection it is still there. Files, hidden values and
// values of the link are not kept. In a frame nothing is kept, because browsers separate
// the storage of frames by the page around them.
import { isChanged } from "./form-logic.js";

const prefix = "formulary ";
const lifetime = 30 * 24 * 60 * 60 * 1000;
const skipped = ["hidden", "file", "submit", "button", "reset", "password"];

function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null;
  }
}

// A database without content tells form.js that there are answers. Without it, they are
// restored when the respondent touches the form.
const hasAnswers = () => Object.keys(localStorage).some((key) => key.startsWith(prefix));
const mark = () => {
  if (hasAnswers()) indexedDB.open("formulary").onsuccess = ({ target }) => target.result.close();
  else indexedDB.deleteDatabase("formulary");
};

// removeExpired removes the answers to any form after 30 days.
function removeExpired() {
  for (const key of Object.keys(localStorage)) {
    if (key.startsWith(prefix) && !(read(key)?.time > Date.now() - lifetime)) localStorage.removeItem(key);
  }
}

const controlsOf = (form) => [...form.elements].filter((control) => control.name && !control.name.startsWith("_") && !skipped.includes(control.type));
const isToggle = (control) => control.type === "radio" || control.type === "checkbox";
const questionKey = (name) => name.split(".")[0];

// valuesOf returns the values of a question by the names of its controls.
function valuesOf(form, key) {
  const data = new FormData(form);
  const names = controlsOf(form).map(({ name }) => name).filter((name) => questionKey(name) === key);
  return Object.fromEntries(names.map((name) => [name, data.getAll(name)]));
}

// restore fills in the questions of this page. Answers in the link win, and those that were
// typed since the page was opened.
function restore(form, answers) {
  const given = new Set([...new URLSearchParams(location.search).keys(), ...controlsOf(form).filter(isChanged).map(({ name }) => name)].map(questionKey));
  let isRestored = false;
  for (const [key, values] of Object.entries(answers)) {
    const controls = controlsOf(form).filter(({ name }) => questionKey(name) === key && values[name]);
    if (given.has(key) || JSON.stringify(valuesOf(form, key)) === JSON.stringify(values)) continue;
    for (const control of controls) {
      if (isToggle(control)) control.checked = values[control.name].includes(control.value);
      else control.value = values[control.name][0] ?? "";
      control.dispatchEvent(new Event("restored"));
      control.closest(".rank")?.dispatchEvent(new Event("restored"));
    }
    isRestored ||= controls.length > 0;
  }
  return isRestored;
}

const create = (tag, properties, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

const icon = (path) => create("span", { innerHTML: `<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round">${path}</svg>` }).firstChild;

// keepAnswers restores and keeps the answers. update is called after answers were changed.
export function keepAnswers(form, texts, update) {
  const none = { erase() {} };
  if (parent !== window) return none;
  const address = `${prefix}${new URL(form.action).pathname} `;
  const key = `${address}${form.elements.namedItem("_version").value}`;
  let kept;
  try {
    removeExpired();
    if (!texts.kept) { // the owner does not want answers to be kept any more
      for (const old of Object.keys(localStorage)) if (old.startsWith(address)) localStorage.removeItem(old);
      mark();
      return none;
    }
    kept = read(key);
  } catch {
    return none; // the browser has no storage for this site
  }
  kept ??= { answers: {}, time: 0 };
  const note = create("p", { className: "kept", hidden: true });
  const welcome = create("p", { className: "kept welcome", hidden: true, role: "status" });

  const erase = () => {
    kept = { answers: {}, time: 0 };
    localStorage.removeItem(key);
    mark();
    note.hidden = true;
    welcome.hidden = true;
  };
  const startAgain = (status) => {
    erase();
    form.reset();
    for (const control of form.elements) control.dispatchEvent(new Event("restored"));
    for (const list of form.querySelectorAll(".rank")) list.dispatchEvent(new Event("restored"));
    update();
    status.replaceChildren(texts.erased);
    status.hidden = false;
  };
  const save = (control) => {
    if (!controlsOf(form).includes(control)) return;
    const question = questionKey(control.name);
    kept.answers[question] = valuesOf(form, question);
    kept.time = Date.now();
    try {
      localStorage.setItem(key, JSON.stringify(kept));
    } catch {
      erase(); // the storage is full
      return;
    }
    if (note.hidden || !note.querySelector("button")) {
      mark();
      showNote();
    }
  };
  const eraseButton = (text, status) => create("button", { type: "button", className: "link", textContent: text, onclick: () => startAgain(status) });
  const showNote = () => {
    note.replaceChildren(icon(`<rect x="5" y="10.500" width="14" height="9.500" rx="2"/><path d="M8 10.500V8a4 4 0 0 1 8 0v2.500"/>`), create("span", { textContent: texts.kept }), eraseButton(texts.erase, note));
    note.hidden = false;
  };

  document.head.append(create("link", { rel: "stylesheet", href: new URL("./form-keep.css", import.meta.url).href }));
  // One question at a time is in the middle of the screen: there, the note must not move it.
  (form.querySelector(".way") ?? form.querySelector(".sheet")).append(note);
  form.querySelector(".sheet").prepend(welcome);
  const time = kept.time;
  const changed = controlsOf(form).filter(isChanged); // since the page was opened
  const isRestored = restore(form, kept.answers);
  if (time && "fresh" in form.dataset) {
    const when = new Intl.DateTimeFormat(document.documentElement.lang || "en", { dateStyle: "long", timeStyle: "short" }).format(time);
    welcome.replaceChildren(icon(`<path d="M19.500 12a7.500 7.500 0 1 1-2.200-5.300L19.500 9M19.500 4.500V9H15"/>`), create("span", { textContent: texts.welcome.replace("{time}", when) }), eraseButton(texts.again, welcome));
    welcome.hidden = false;
  }
  if (isRestored) {
    form.dispatchEvent(new Event("input")); // for calculations
    update();
  }
  if (time) showNote();
  mark(); // in any case, because leaving the page may have stopped the first time
  changed.forEach(save);
  form.addEventListener("input", ({ target }) => save(target));
  form.addEventListener("change", ({ target }) => save(target));
  return { erase };
}
