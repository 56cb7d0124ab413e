// Saving: by itself, soon after the last change, and again until it is done.

import { dialog, h, say } from "./builder-view.js";
import { find, lists, outward, replace, state } from "./builder-draft.js";

const pause = 700;
const { meta } = state;
let timer = 0;
let sending = null; // the promise of what is on its way
let savedEdits = 0;
let tries = 0;
let draw = () => {};
let saved = () => {};

export const status = { kind: "saved", text: say("All changes saved") };
function tell(kind, text) {
  Object.assign(status, { kind, text });
  draw(true);
}

export const unsaved = () => state.edits !== savedEdits;

export function schedule(wait = pause) {
  clearTimeout(timer);
  if (status.kind === "saved") Object.assign(status, { kind: "waiting", text: say("Saving…") });
  timer = setTimeout(save, wait);
}

// flush saves now what is not saved yet, and promises whether all is.
export async function flush() {
  clearTimeout(timer);
  if (sending) await sending;
  if (unsaved()) await save();
  return !unsaved();
}

export function start(views) {
  ({ draw, saved } = views);
  for (const event of ["online", "focus"]) addEventListener(event, () => { if (["offline", "signin"].includes(status.kind)) schedule(0); });
  addEventListener("beforeunload", (event) => { if (unsaved()) event.preventDefault(); });
  document.addEventListener("visibilitychange", () => { if (document.hidden && unsaved() && !sending) save(); });
}

// leaving gives up the warning, when a page is left on purpose.
export function leaving() { savedEdits = state.edits; }

async function save() {
  clearTimeout(timer);
  if (sending) return sending;
  const { edits } = state;
  sending = send().finally(() => { sending = null; });
  await sending;
  if (state.edits !== edits && ["saved", "problem"].includes(status.kind)) schedule();
}

// What people have not written yet is not sent.
function ready() {
  const form = structuredClone(state.form);
  for (const field of form.fields) for (const list of lists) {
    if (field[list]) field[list] = field[list].filter((o) => o.label.trim() || o.value);
  }
  return form;
}

async function send() {
  const edits = state.edits;
  const form = ready();
  tell("saving", say("Saving…"));
  let answer;
  try {
    answer = await fetch(`/forms/${meta.id}/draft`, {
      method: "PUT", redirect: "manual", body: outward(form), headers: { "Content-Type": "application/json", "If-Match": `"${meta.revision}"` },
    });
  } catch {
    return again(say("Not saved: offline, trying again"));
  }
  if (answer.type === "opaqueredirect") return tell("signin", say("Not saved: please sign in again"));
  if (answer.status >= 500 || answer.status === 429) return again(say("Not saved: the service does not answer, trying again"));
  const body = await answer.json().catch(() => null);
  tries = 0;
  if (answer.status === 409 && body?.theirs) return conflict(body.theirs);
  if (!answer.ok || !body) return refused(answer.status, body, form);
  state.problems = [];
  savedEdits = edits;
  merge(body, form);
  saved();
  tell("saved", say("All changes saved"));
}

function again(text) {
  tell("offline", text);
  schedule(Math.min(30000, 1500 * 2 ** tries++));
}

function refused(code, body, form) {
  state.problems = (body?.details ?? []).map((detail) => ({ ...placeOf(detail.field, form), message: say(detail.message) }));
  const n = state.problems.length;
  if (code === 404) tell("problem", say("Not saved: this form is no longer there"));
  else if (!n) tell("problem", `${say("Not saved")}: ${body?.message ? say(body.message) : code}`);
  else tell("problem", n === 1 ? say("Not saved: 1 problem") : say("Not saved: {n} problems", { n }));
}

// placeOf finds what a path such as fields.3.options.0.label speaks of.
export function placeOf(path, form) {
  const [list, i, name, n, part] = path.split(".");
  const member = (list === "fields" || list === "endings") && form[list][i];
  if (!member) return { owner: "form", at: `form.${path.split(".").at(-1)}` };
  const option = n !== undefined && member[name]?.[n];
  return { owner: member._uid, at: option?._uid ? `${option._uid}.${part}` : `${member._uid}.${name}` };
}

// merge takes what the server filled in where nothing was and still nothing is.
const blank = (value) => value === undefined || value === null || value === "";
function fillIn(mine, sent, clean) {
  if (!mine || !clean) return;
  for (const [name, value] of Object.entries(clean)) {
    if (typeof value !== "object" && !blank(value) && blank(sent[name]) && blank(mine[name])) mine[name] = value;
  }
}
function merge(clean, sent) {
  const { revision, version, status: at, changes } = clean;
  Object.assign(meta, { revision, version, status: at, changes });
  for (const name of ["fields", "endings"]) sent[name].forEach((was, i) => {
    const mine = find(was._uid);
    fillIn(mine, was, clean[name][i]);
    for (const list of lists) (was[list] ?? []).forEach((o, n) =>
      fillIn(mine?.[list]?.find((x) => x._uid === o._uid), o, clean[name][i][list]?.[n]));
  });
}

async function conflict(theirs) {
  tell("conflict", say("Not saved: somebody else has changed this form"));
  const about = (form) => say("“{title}”, {n} questions", { title: form.title, n: form.fields.length });
  const when = theirs.updated_at ? new Date(theirs.updated_at) : new Date();
  let choice = "";
  while (!choice) {
    choice = await dialog(say("Somebody else has changed this form"), [
      h("p", null, say("While you worked here, it was saved from another window or by another program. Only one of the two can stay.")),
      h("dl", null,
        h("dt", null, say("Theirs, saved before {time}", { time: when.toLocaleTimeString() })), h("dd", null, about(theirs)),
        h("dt", null, say("Yours, as you see it here")), h("dd", null, about(state.form))),
    ], [["mine", say("Keep mine"), { class: "primary" }], ["theirs", say("Take theirs")]]);
  }
  meta.revision = theirs.revision;
  if (choice === "mine") return schedule(0);
  replace(theirs);
  Object.assign(meta, { version: theirs.version, status: theirs.status, changes: theirs.changes });
  leaving();
  state.problems = [];
  draw();
  saved();
  tell("saved", say("All changes saved"));
}
