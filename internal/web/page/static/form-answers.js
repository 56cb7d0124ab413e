// What a form does with answers: shows the questions that follow from them, checks them,
// keeps them on the device and sends them. form.js loads it.
import { watch } from "./form-logic.js";
import { watchProgress } from "./form-progress.js";
import { Checker } from "./form-check.js";
import { keepAnswers } from "./form-keep.js";
import { Sender } from "./form-send.js";

// A preview stores nothing and has no rules: the server shows its problems.
async function loadRules(form) {
  const address = new URL(form.action);
  if (!address.pathname.startsWith("/f/")) return null;
  const version = form.elements.namedItem("_version").value;
  const response = await fetch(`${address.pathname}/rules?version=${version}`).catch(() => null);
  return response?.ok ? response.json() : null;
}

function loadEnhancements(form) {
  for (const name of new Set([...form.querySelectorAll("[data-load]")].map((element) => element.dataset.load))) {
    import(`./${name}.js`).catch(() => {}); // the controls work without
  }
}

// start resolves with the handler of submit events, if the script sends the answers.
export async function start(form) {
  watchProgress(form);
  const update = watch(form);
  loadEnhancements(form);
  const rules = await loadRules(form);
  if (!rules) return undefined;
  const checker = new Checker(form, rules);
  const kept = keepAnswers(form, rules.texts, update);
  const sender = new Sender(form, rules.texts, kept.erase);
  return (event) => {
    event.preventDefault();
    if (event.submitter?.value === "back" || checker.checkAll()) sender.send(event.submitter);
  };
}
