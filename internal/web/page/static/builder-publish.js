// Checking and publishing a form. It is loaded when the button is pressed.

import { createNode, h, icon, iconButton, quote, showDialog, t } from "./vdom.js";
import { findMember, membersOf, state } from "./builder-state.js";
import { displayName } from "./builder-logic.js";
import { discardUnsaved, flush, locate, mapProblems, saveStatus } from "./builder-save.js";

const { meta } = state;
let properties = []; // loaded if there are changes to describe
document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/static/builder-publish.css" }));

// propertyLabels names properties as the panel does.
const propertyLabels = (names) => names.map((name) => properties.find((p) => p.name === name)?.label ?? {
  title: t("Title"), description: t("Description"), language: t("Language"), redirect: t("Redirect to"), submit_label: t("Submit button text"),
  hide_progress: t("Hide progress"), ask_again: t("Allow another response"), forget_answers: t("Keep unfinished answers on their device"), show_places: t("Show how many places are left"),
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

// showFinding goes to the place of a finding, which the bar below the builder explains.
function showFinding(findings, i, goTo) {
  const finding = findings[i];
  const { uid, optionUid, property, message } = finding;
  goTo(uid, property === "label" || property === "title");
  const control = optionUid ? document.querySelector(`[data-option$="${optionUid}"]`) : document.getElementById(`p-${property}`);
  if (control?.offsetParent) control.focus();
  const show = (n) => () => showFinding(findings, n, goTo);
  renderBar(finding.isProblem, [
    icon(finding.isProblem ? "warn" : "eye"),
    h("p", { role: "status" }, h("strong", nameOf(uid)), " ", sentence(message)),
    findings.length > 1 && h("span.muted", t("{n} of {all}", { n: i + 1, all: findings.length })),
    i > 0 && h("button", { onclick: show(i - 1) }, t("Back")),
    i < findings.length - 1 ? h("button", { onclick: show(i + 1) }, t("Next")) : h("button", { onclick: () => { closeBar(); publish(goTo); } }, t("Check again")),
    iconButton("close", t("Close"), closeBar),
  ]);
}
const nameOf = (uid) => findMember(uid) ? displayName(findMember(uid)) : t("Form");
const sentence = (text) => text[0].toUpperCase() + text.slice(1).replace(/([^.])$/, "$1.");

let bar;
function closeBar() {
  bar?.remove();
  bar = null;
}
function renderBar(isProblem, children) {
  closeBar();
  bar = document.body.appendChild(createNode(h("section.check-bar", { class: `check-bar${isProblem ? " problem" : ""}`, "aria-label": t("Check") }, children)));
}

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
  closeBar();
  const backButton = [["", t("Back to form")]];
  if (!(await flush())) {
    await showDialog(t("Not ready to publish"), h("p", `${saveStatus.text.replace(/([^.…])$/, "$1.")} ${t("Save your changes before you publish.")}`), backButton);
    if (state.problems.length) goTo(state.problems[0].uid);
    return;
  }
  const { version: n, changes, id } = state.meta;
  if (changes.length) properties = await import("./builder-fields.js").then((module) => [...module.commonProperties, ...module.kindProperties]);
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
  if (choice.startsWith("show ")) return showFinding(findings, Number(choice.slice(5)), goTo);
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
