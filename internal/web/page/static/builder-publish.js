// Checking and publishing a form. It is loaded when the button is pressed.

import { h, icon, quote, showDialog, t } from "./vdom.js";
import { findMember, state } from "./builder-state.js";
import { displayName } from "./builder-logic.js";
import { discardUnsaved, flush, locate, mapProblems, saveStatus } from "./builder-save.js";

document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/static/builder-publish.css" }));

export const nameOf = (uid) => findMember(uid) ? displayName(findMember(uid)) : t("Form");
export const sentence = (text) => text[0].toUpperCase() + text.slice(1).replace(/([^.])$/, "$1.");

// findingList lists findings; each has a button that closes the dialog and goes there.
const findingList = (title, findings, offset) => findings.length > 0 && h(`section.findings${findings[0].isProblem ? ".problems" : ""}`, h("h3", title), h("ul", findings.map((finding, i) => h("li",
  icon(finding.isProblem ? "warn" : "eye"), h("span", h("strong", nameOf(finding.uid)), h("br"), sentence(finding.message)),
  h("button", { value: `show ${offset + i}`, "aria-label": `${t("Show me")}: ${nameOf(finding.uid)}` }, t("Show me"))))));

async function check(id) {
  const response = await fetch(`/forms/${id}/check`, { redirect: "manual" }).catch(() => null);
  const found = response?.ok && await response.json().catch(() => null);
  if (!found) return [];
  const problems = locate(found.problems, state.form).map((finding) => ({ ...finding, isProblem: true }));
  return [...problems, ...locate(found.advice, state.form)];
}

export async function publish(goTo) {
  document.querySelector(".check-bar")?.remove();
  const backButton = [["", t("Back to form")]];
  if (!(await flush())) {
    await showDialog(t("Not ready to publish"), h("p", `${saveStatus.text.replace(/([^.…])$/, "$1.")} ${t("Save your changes before you publish.")}`), backButton);
    if (state.problems.length) goTo(state.problems[0].uid);
    return;
  }
  const { version: n, changes, id } = state.meta;
  const changeItem = changes.length && (await import("./builder-changes.js")).changeItem;
  const findings = await check(id);
  const problems = findings.filter((finding) => finding.isProblem);
  const lists = [
    findingList(t("Fix before you publish"), problems, 0),
    findingList(t("Worth a look"), findings.slice(problems.length), problems.length),
  ];
  const body = [!n ? h("p", t("Anyone with the link will be able to respond."))
    : changes.length ? [h("p", t("Changes since version {n}:", { n })), h("ul.changes", changes.map(changeItem))] : h("p", t("No changes since version {n}.", { n })), lists];
  const choice = problems.length ? await showDialog(t("Not ready to publish"), lists, backButton)
    : await showDialog(t("Publish form"), body, [["publish", t("Publish"), { class: "primary", disabled: n > 0 && !changes.length }], ["", t("Cancel")]]);
  if (problems.length) {
    state.isChecked = true;
    state.problems = problems;
  }
  if (choice.startsWith("show ")) return (await import("./builder-check.js")).showFinding(findings, Number(choice.slice(5)), goTo);
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
