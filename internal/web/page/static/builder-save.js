// Saving and publishing. Drafts are saved automatically soon after the last edit, and
// failed attempts are repeated.

import { data, h, icon, quote, showDialog, t } from "./vdom.js";
import { findMember, membersOf, optionLists, replaceDraft, serialize, state } from "./builder-state.js";
import { displayName } from "./builder-logic.js";

const { meta } = state;
let timer = 0;
let saving = null; // promise of the request in progress
let savedEditCount = 0;
let failedAttempts = 0;
let render, reloadPreview;

const savedText = () => meta.version && meta.changes.length ? t("Draft saved. Version {n} is live.", { n: meta.version }) : t("All changes saved");

export const saveStatus = { kind: "saved", text: savedText() };
function setStatus(kind, text) {
  Object.assign(saveStatus, { kind, text });
  render(true);
}
const showSaved = () => { reloadPreview(); setStatus("saved", savedText()); };
const hasUnsavedEdits = () => state.editCount !== savedEditCount;

// Edits that could not be saved are kept for this window in session storage.
const stashKey = `draft of ${meta.id}`;
function stashDraft() {
  try {
    if (hasUnsavedEdits()) sessionStorage.setItem(stashKey, JSON.stringify({ revision: meta.revision, form: serialize(state.form) }));
    else sessionStorage.removeItem(stashKey);
  } catch { /* no session storage */ }
}
function restoreDraft() {
  try {
    const { revision, form } = JSON.parse(sessionStorage.getItem(stashKey)) ?? {};
    if (revision !== meta.revision) return;
    replaceDraft(JSON.parse(form));
    scheduleSave(0);
  } catch { /* no session storage, or an unreadable draft */ }
}

export function scheduleSave(delay = 700) {
  clearTimeout(timer);
  timer = setTimeout(save, delay);
  if (saveStatus.kind === "saved") setStatus("saving", t("Saving…"));
}

// flush saves unsaved edits now and resolves to whether everything is saved.
async function flush() {
  await saving;
  if (hasUnsavedEdits()) await save();
  return !hasUnsavedEdits();
}

const discardUnsaved = () => { savedEditCount = state.editCount; };

export function startSaving(renderBuilder, onSaved) {
  [render, reloadPreview] = [renderBuilder, onSaved];
  for (const event of ["online", "focus"]) addEventListener(event, () => { if (["offline", "signin"].includes(saveStatus.kind)) scheduleSave(0); });
  addEventListener("beforeunload", (event) => { if (hasUnsavedEdits()) event.preventDefault(); });
  addEventListener("pagehide", stashDraft);
  document.addEventListener("visibilitychange", () => { if (document.hidden && hasUnsavedEdits()) save(); });
  restoreDraft();
}

async function save() {
  clearTimeout(timer);
  if (saving) return saving;
  const { editCount } = state;
  saving = sendDraft().finally(() => { saving = null; });
  await saving;
  if (state.editCount !== editCount && ["saved", "problem"].includes(saveStatus.kind)) scheduleSave();
}

async function sendDraft() {
  const { editCount } = state;
  const form = structuredClone(state.form);
  // Options without a label are still being written.
  for (const f of form.fields) for (const list of optionLists) if (f[list]) f[list] = f[list].filter((o) => o.label.trim() || o.value);
  setStatus("saving", t("Saving…"));
  let response;
  try {
    response = await fetch(`/forms/${meta.id}/draft`, {
      method: "PUT", redirect: "manual", body: serialize(form), headers: { "Content-Type": "application/json", "If-Match": `"${meta.revision}"` },
    });
  } catch {
    return retryLater(t("Not saved: you’re offline. Retrying…"));
  }
  if (response.type === "opaqueredirect") return setStatus("signin", t("Not saved: sign in again"));
  if (response.status >= 500 || response.status === 429) return retryLater(t("Not saved: the server isn’t responding. Retrying…"));
  const body = await response.json().catch(() => ({}));
  failedAttempts = 0;
  if (body.stored_draft) return resolveConflict(body.stored_draft);
  if (!response.ok) return showProblems(body, form);
  state.problems = [];
  savedEditCount = editCount;
  mergeSaved(body, form);
  showSaved();
}

function retryLater(text) {
  setStatus("offline", text);
  scheduleSave(Math.min(30000, 1500 * 2 ** failedAttempts++));
}

function showProblems(body, form) {
  mapProblems(body, form);
  const n = state.problems.length;
  setStatus("problem", n > 1 ? t("Not saved: {n} problems to fix", { n }) : n ? t("Not saved: 1 problem to fix")
    : `${t("Not saved")}: ${body.message ? t(body.message) : t("This form has been deleted.")}`);
}

// mapProblems finds the members of validation errors, whose paths are like
// fields.3.options.0.label.
function mapProblems(body, form) {
  state.problems = (body.details ?? []).map(({ field, message }) => {
    const [list, i, property, n, optionProperty] = field.split(".");
    const member = /^(fields|endings)$/.test(list) && form[list][i];
    const optionUid = member?.[property]?.[n]?._uid;
    const path = optionUid ? `${optionUid}.${optionProperty}` : member ? `${member._uid}.${property}` : `form.${field.split(".").at(-1)}`;
    return { uid: member?._uid ?? "form", path, message: t(message) };
  });
}

// mergeSaved takes over what the server filled in, such as keys, if it is still empty here.
const isBlank = (value) => value === undefined || value === "";
function fillBlanks(local, sent, stored = {}) {
  for (const name in stored) {
    if (local && typeof stored[name] !== "object" && isBlank(sent[name]) && isBlank(local[name])) local[name] = stored[name];
  }
}
function mergeSaved(stored, sent) {
  updateMeta(stored);
  for (const name of ["fields", "endings"]) sent[name].forEach((sentMember, i) => {
    const local = findMember(sentMember._uid);
    const storedMember = stored[name][i];
    fillBlanks(local, sentMember, storedMember);
    for (const list of optionLists) {
      sentMember[list]?.forEach((option, n) => fillBlanks(local?.[list]?.find((o) => o._uid === option._uid), option, storedMember[list]?.[n]));
    }
  });
}
function updateMeta({ revision, version, changes, removed_labels }) { Object.assign(meta, { revision, version, changes, removed_labels }); }

async function resolveConflict(remoteDraft) {
  setStatus("conflict", t("Not saved: this form was changed elsewhere"));
  const description = (form) => h("dd", form.fields.length === 1 ? t("“{title}”, 1 question", { title: form.title })
    : t("“{title}”, {n} questions", { title: form.title, n: form.fields.length }));
  const time = new Date(remoteDraft.updated_at ?? Date.now()).toLocaleTimeString();
  let choice = "";
  while (!choice) choice = await showDialog(t("This form was changed elsewhere"), [
    h("p", t("This form was saved in another window or by an app while you were editing. Choose which version to keep.")),
    h("dl", h("dt", t("Saved elsewhere at {time}", { time })), description(remoteDraft), h("dt", t("Your version")), description(state.form)),
  ], [["local", t("Keep my version"), { class: "primary" }], ["remote", t("Use their version")]]);
  updateMeta(remoteDraft);
  if (choice === "local") return scheduleSave(0);
  replaceDraft(remoteDraft);
  discardUnsaved();
  state.problems = [];
  render();
  showSaved();
}

// propertyLabels names properties as the panel does.
const propertyLabels = (names) => names.map((name) => [...data.common_properties, ...data.kind_properties].find((p) => p.name === name)?.label ?? {
  title: t("Title"), description: t("Description"), language: t("Language"), redirect: t("Redirect to"), submit_label: t("Submit button text"),
  hide_progress: t("Hide progress"), ask_again: t("Allow another response"),
}[name] ?? name).map((label) => t(label)).join(", ");

// changeItem describes a change since the published version.
function changeItem({ action, subject, key, properties, from, to }) {
  const actionLabel = { added: t("Added"), removed: t("Removed") }[action] ?? t("Edited");
  const member = membersOf().find((m) => m.key === key);
  const removedLabel = meta.removed_labels[key];
  const displayValue = (value) => value === "" ? t("none") : typeof value === "string" ? quote(value) : value;
  const text = action === "reordered" ? subject === "field" ? t("Order of the questions") : t("Order of the endings")
    : key ? (member ? quote(displayName(member)) : removedLabel ? quote(removedLabel) : key) + (properties ? `: ${propertyLabels(properties)}` : "")
    : properties ? subject === "design" ? t("Design") : propertyLabels(properties) : `${propertyLabels([subject])}: ${displayValue(from)} → ${displayValue(to)}`;
  return h("li", h("span.tag", actionLabel), h("span", text));
}

export async function publish(goTo) {
  const backButton = [["", t("Back to form")]];
  if (!(await flush())) {
    await showDialog(t("Not ready to publish"), h("p", `${saveStatus.text.replace(/([^.…])$/, "$1.")} ${t("Save your changes before you publish.")}`), backButton);
    if (state.problems.length) goTo(state.problems[0].uid);
    return;
  }
  const { version: n, changes, id } = state.meta;
  const body = !n ? h("p", t("Anyone with the link will be able to respond."))
    : changes.length ? [h("p", t("Changes since version {n}:", { n })), h("ul.changes", changes.map(changeItem))] : h("p", t("No changes since version {n}.", { n }));
  const choice = await showDialog(t("Publish form"), body, [["publish", t("Publish"), { class: "primary", disabled: n > 0 && !changes.length }], ["", t("Cancel")]]);
  if (choice !== "publish") return;
  const response = await fetch(`/forms/${id}/publish`, { method: "POST", redirect: "manual" }).catch(() => null);
  if (response?.type === "opaqueredirect") {
    discardUnsaved();
    location.assign(`/forms/${id}/share`);
    return;
  }
  const error = await response?.json().catch(() => null) ?? {};
  mapProblems(error, state.form);
  await showDialog(t("Not published"), [
    h("p", error.message || t("Can’t reach the server. Check your connection and try again.")),
    h("ul.changes", state.problems.map((p) => h("li", icon("warn"), h("span", findMember(p.uid) && `${quote(displayName(findMember(p.uid)))}: `, p.message)))),
  ], backButton);
  if (state.problems.length) goTo(state.problems[0].uid);
}
