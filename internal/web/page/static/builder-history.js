// Undo steps survive visiting another page: they are kept for this window in session
// storage. It is loaded with the first edit, or if there are steps to restore.

import { redoStack, state, undoStack } from "./builder-state.js";

const maxLength = 2_000_000; // characters; browsers keep at least 5 MB
const key = `history of ${state.meta.id}`;

// canonical returns a draft as text that is the same for equal drafts: without what only
// this page knows, without empty values, and with sorted names.
const isEmpty = (value) => value === undefined || value === null || value === "" || value === false;
const canonical = (form) => JSON.stringify(form, (_, value) => value?.constructor !== Object ? value
  : Object.fromEntries(Object.entries(value).filter(([name, v]) => !name.startsWith("_") && !isEmpty(v)).sort(([a], [b]) => a < b ? -1 : 1)));

// recent returns the last steps that fit.
function recent(stack, room) {
  let length = 0;
  return stack.slice(stack.findLastIndex((step) => (length += step.form.length) > room) + 1);
}

function keep() {
  try {
    const undo = recent(undoStack, maxLength / 2);
    if (!undo.length && !redoStack.length) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify({ form: state.form, undo, redo: recent(redoStack, maxLength / 2) }));
  } catch { /* no session storage, or it is full */ }
}

// restore takes over the steps. If the draft was replaced meanwhile, such as by an earlier
// version, that is one more step.
function restore(render) {
  try {
    const { form, undo, redo } = JSON.parse(sessionStorage.getItem(key)) ?? {};
    if (!form) return;
    const isSame = canonical(form) === canonical(state.form);
    if (isSame) state.form = form;
    undoStack.splice(0, undoStack.length, ...undo, ...isSame ? [] : [{ form: JSON.stringify(form), selectedId: "form" }]);
    redoStack.splice(0, redoStack.length, ...isSame ? redo : []);
    render();
  } catch { /* no session storage, or unreadable steps */ }
}

export function keepHistory(render) {
  restore(render);
  addEventListener("pagehide", keep);
}
