// Saving: by itself, soon after the last change, and again until it is done. Then
// publishing, when asked to.

import { data, dialog, h, icon, quote, say } from "./vdom.js";
import { find, lists, members, outward, replace, state } from "./builder-state.js";
import { nameOf } from "./builder-logic.js";

const { meta } = state;
let timer = 0;
let sending = null; // the promise of what is on its way
let saved = 0; // the last edit that is
let tries = 0;
let draw, refresh;

// What is saved is one thing, what respondents see another.
const rest = () => meta.version && meta.changes.length ? say("Draft saved. Version {n} is live.", { n: meta.version }) : say("All changes saved");

export const status = { kind: "saved", text: rest() };
function tell(kind, text) {
  Object.assign(status, { kind, text });
  draw(true);
}
const done = () => { refresh(); tell("saved", rest()); };
const unsaved = () => state.edits !== saved;

// What could not be saved stays in this window, until it is.
const shelf = `draft of ${meta.id}`;
function shelve() {
  try {
    if (unsaved()) sessionStorage.setItem(shelf, JSON.stringify({ revision: meta.revision, form: outward(state.form) }));
    else sessionStorage.removeItem(shelf);
  } catch { /* there is no such place */ }
}
function unshelve() {
  try {
    const { revision, form } = JSON.parse(sessionStorage.getItem(shelf)) ?? {};
    if (revision !== meta.revision) return;
    replace(JSON.parse(form));
    schedule(0);
  } catch { /* nothing that could be taken up again */ }
}

export function schedule(wait = 700) {
  clearTimeout(timer);
  timer = setTimeout(save, wait);
  if (status.kind === "saved") tell("saving", say("Saving…"));
}

// flush saves now what is not saved yet, and promises whether all is.
async function flush() {
  await sending;
  if (unsaved()) await save();
  return !unsaved();
}

const leaving = () => { saved = state.edits; };

export function start(views) {
  [draw, refresh] = views;
  for (const event of ["online", "focus"]) addEventListener(event, () => { if (["offline", "signin"].includes(status.kind)) schedule(0); });
  addEventListener("beforeunload", (event) => { if (unsaved()) event.preventDefault(); });
  addEventListener("pagehide", shelve);
  document.addEventListener("visibilitychange", () => { if (document.hidden && unsaved()) save(); });
  unshelve();
}

async function save() {
  clearTimeout(timer);
  if (sending) return sending;
  const { edits } = state;
  sending = send().finally(() => { sending = null; });
  await sending;
  if (state.edits !== edits && ["saved", "problem"].includes(status.kind)) schedule();
}

async function send() {
  const { edits } = state;
  const form = structuredClone(state.form);
  // An answer that is not written yet is not sent.
  for (const f of form.fields) for (const list of lists) if (f[list]) f[list] = f[list].filter((o) => o.label.trim() || o.value);
  tell("saving", say("Saving…"));
  let answer;
  try {
    answer = await fetch(`/forms/${meta.id}/draft`, {
      method: "PUT", redirect: "manual", body: outward(form), headers: { "Content-Type": "application/json", "If-Match": `"${meta.revision}"` },
    });
  } catch {
    return again(say("Not saved: you’re offline. Retrying…"));
  }
  if (answer.type === "opaqueredirect") return tell("signin", say("Not saved: sign in again"));
  if (answer.status >= 500 || answer.status === 429) return again(say("Not saved: the server isn’t responding. Retrying…"));
  const body = await answer.json().catch(() => ({}));
  tries = 0;
  if (body.theirs) return conflict(body.theirs);
  if (!answer.ok) return refused(body, form);
  state.problems = [];
  saved = edits;
  merge(body, form);
  done();
}

function again(text) {
  tell("offline", text);
  schedule(Math.min(30000, 1500 * 2 ** tries++));
}

function refused(body, form) {
  note(body, form);
  const n = state.problems.length;
  tell("problem", n > 1 ? say("Not saved: {n} problems to fix", { n }) : n ? say("Not saved: 1 problem to fix") : `${say("Not saved")}: ${body.message ? say(body.message) : say("This form has been deleted.")}`);
}

// Paths are like fields.3.options.0.label.
function note(body, form) {
  state.problems = (body.details ?? []).map(({ field, message }) => {
    const [list, i, name, n, part] = field.split(".");
    const member = /^(fields|endings)$/.test(list) && form[list][i];
    const option = member?.[name]?.[n]?._uid;
    return { owner: member?._uid ?? "form", at: option ? `${option}.${part}` : member ? `${member._uid}.${name}` : `form.${field.split(".").at(-1)}`, message: say(message) };
  });
}

// The server fills in where nothing was; it is taken where still nothing is.
const blank = (value) => value === undefined || value === "";
function fillIn(mine, sent, clean = {}) {
  for (const name in clean) if (mine && typeof clean[name] !== "object" && blank(sent[name]) && blank(mine[name])) mine[name] = clean[name];
}
function head({ revision, version, changes, gone }) { Object.assign(meta, { revision, version, changes, gone }); }
function merge(clean, sent) {
  head(clean);
  for (const name of ["fields", "endings"]) sent[name].forEach((was, i) => {
    const mine = find(was._uid);
    fillIn(mine, was, clean[name][i]);
    for (const list of lists) was[list]?.forEach((o, n) => fillIn(mine?.[list]?.find((x) => x._uid === o._uid), o, clean[name][i][list]?.[n]));
  });
}

async function conflict(theirs) {
  tell("conflict", say("Not saved: this form was changed elsewhere"));
  const about = (form) => h("dd", form.fields.length === 1 ? say("“{title}”, 1 question", { title: form.title }) : say("“{title}”, {n} questions", { title: form.title, n: form.fields.length }));
  const time = new Date(theirs.updated_at ?? Date.now()).toLocaleTimeString();
  let choice = "";
  while (!choice) choice = await dialog(say("This form was changed elsewhere"), [
    h("p", say("This form was saved in another window or by an app while you were editing. Choose which version to keep.")),
    h("dl", h("dt", say("Saved elsewhere at {time}", { time })), about(theirs), h("dt", say("Your version")), about(state.form)),
  ], [["mine", say("Keep my version"), { class: "primary" }], ["theirs", say("Use their version")]]);
  head(theirs);
  if (choice === "mine") return schedule(0);
  replace(theirs);
  leaving();
  state.problems = [];
  draw();
  done();
}

// What changes are about, in the words of the panel.
const called = (names) => names.map((name) => [...data.common, ...data.own].find((p) => p.name === name)?.label ?? {
  title: say("Title"), description: say("Description"), language: say("Language"), redirect: say("Redirect to"), submit_label: say("Submit button text"),
  hide_progress: say("Hide progress"), ask_again: say("Allow another response"),
}[name] ?? name).map((name) => say(name)).join(", ");

// changeLine shows a difference to what is published.
function changeLine({ action, subject, key, properties, from, to }) {
  const sign = { added: say("Added"), removed: say("Removed") }[action] ?? say("Edited");
  const member = members().find((m) => m.key === key);
  const value = (v) => v === "" ? say("none") : typeof v === "string" ? quote(v) : v;
  const words = action === "reordered" ? subject === "field" ? say("Order of the questions") : say("Order of the endings")
    : key ? (member ? quote(nameOf(member)) : meta.gone[key] ? quote(meta.gone[key]) : key) + (properties ? `: ${called(properties)}` : "")
    : properties ? called(properties) : `${called([subject])}: ${value(from)} → ${value(to)}`;
  return h("li", h("span.tag", sign), h("span", words));
}

export async function publish(go) {
  const back = [["", say("Back to form")]];
  if (!(await flush())) {
    await dialog(say("Not ready to publish"), h("p", `${status.text.replace(/([^.…])$/, "$1.")} ${say("Save your changes before you publish.")}`), back);
    if (state.problems.length) go(state.problems[0].owner);
    return;
  }
  const { version: n, changes, id } = state.meta;
  const body = !n ? h("p", say("Anyone with the link will be able to respond."))
    : changes.length ? [h("p", say("Changes since version {n}:", { n })), h("ul.changes", changes.map(changeLine))] : h("p", say("No changes since version {n}.", { n }));
  const choice = await dialog(say("Publish form"), body, [["publish", say("Publish"), { class: "primary", disabled: n > 0 && !changes.length }], ["", say("Cancel")]]);
  if (choice !== "publish") return;
  const answer = await fetch(`/forms/${id}/publish`, { method: "POST", redirect: "manual" }).catch(() => null);
  if (answer?.type === "opaqueredirect") {
    leaving();
    location.assign(`/forms/${id}/share`);
    return;
  }
  const problem = await answer?.json().catch(() => null) ?? {};
  note(problem, state.form);
  await dialog(say("Not published"), [
    h("p", problem.message || say("Can’t reach the server. Check your connection and try again.")),
    h("ul.changes", state.problems.map((p) => h("li", icon("warn"), h("span", find(p.owner) && `${quote(nameOf(find(p.owner)))}: `, p.message)))),
  ], back);
  if (state.problems.length) go(state.problems[0].owner);
}
