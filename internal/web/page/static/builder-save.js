// Saving. Drafts are saved automatically soon after the last edit, and failed attempts are
// repeated.

import { t } from "./vdom.js";
import { findMember, isUnnamed, optionLists, replaceDraft, serialize, state } from "./builder-state.js";

const { meta } = state;
let timer = 0;
let saving = null; // promise of the request in progress
let savedEditCount = 0;
let failedAttempts = 0;
let render, reloadPreview;

const problemsText = (n) => n > 1 ? t("Saved. {n} problems to fix", { n }) : t("Saved. 1 problem to fix");
const savedText = () => state.problems.length ? problemsText(state.problems.length) : meta.version && meta.changes.length ? t("Draft saved. Version {n} is live.", { n: meta.version }) : t("All changes saved");

mapProblems({ details: meta.problems }, state.form);
const savedKind = () => state.problems.length ? "problem" : "saved";
export const saveStatus = { kind: savedKind(), text: savedText() };
function setStatus(kind, text) {
  Object.assign(saveStatus, { kind, text });
  render(true);
}
const showSaved = () => { reloadPreview(); setStatus(savedKind(), savedText()); };
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

let history; // the module that keeps undo steps
const keepHistory = () => { history ??= import("./builder-history.js").then((module) => module.keepHistory(render), () => { history = null; }); };

export function scheduleSave(delay = 700) {
  keepHistory();
  clearTimeout(timer);
  timer = setTimeout(save, delay);
  if (["saved", "problem"].includes(saveStatus.kind)) setStatus("saving", t("Saving…"));
}

// flush saves unsaved edits now and resolves to whether everything is saved.
export async function flush() {
  await saving;
  if (hasUnsavedEdits()) await save();
  return !hasUnsavedEdits();
}

export const discardUnsaved = () => { savedEditCount = state.editCount; };

export function startSaving(renderBuilder, onSaved) {
  [render, reloadPreview] = [renderBuilder, onSaved];
  for (const event of ["online", "focus"]) addEventListener(event, () => { if (["offline", "signin"].includes(saveStatus.kind)) scheduleSave(0); });
  addEventListener("beforeunload", (event) => { if (hasUnsavedEdits()) event.preventDefault(); });
  addEventListener("pagehide", stashDraft);
  document.addEventListener("visibilitychange", () => { if (document.hidden && hasUnsavedEdits()) save(); });
  restoreDraft();
  if (sessionStorage.getItem(`history of ${meta.id}`)) keepHistory();
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
  savedEditCount = editCount;
  mergeSaved(body, form);
  mapProblems({ details: body.problems }, form);
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

// locate finds the members of messages of the server, whose paths are like
// fields.3.options.0.label.
export function locate(details, form) {
  return (details ?? []).map(({ field, message }) => {
    const [list, i, property, n, optionProperty] = field.split(".");
    const member = /^(fields|endings)$/.test(list) && form[list][i];
    const option = member?.[property]?.[n];
    const path = option?._uid ? `${option._uid}.${optionProperty}` : member ? `${member._uid}.${property}` : `form.${field.split(".").at(-1)}`;
    return { uid: member?._uid ?? "form", path, property, optionUid: option?._uid, message: t(message), isUnnamed: optionProperty === "label" && isUnnamed(option) };
  });
}

// Unnamed options count only after the form was checked: until then, they are being written.
export function mapProblems({ details }, form) {
  state.problems = locate(details, form).filter((problem) => state.isChecked || !problem.isUnnamed);
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
  const choice = await import("./builder-conflict.js").then((module) => module.chooseVersion(remoteDraft));
  updateMeta(remoteDraft);
  if (choice === "local") return scheduleSave(0);
  loadRemote(remoteDraft);
}

export const isSaved = () => !saving && !hasUnsavedEdits();

export function loadRemote(remoteDraft) {
  updateMeta(remoteDraft);
  replaceDraft(remoteDraft);
  discardUnsaved();
  mapProblems({ details: remoteDraft.problems }, state.form);
  render();
  showSaved();
}
