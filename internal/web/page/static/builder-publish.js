// Publishing. It is loaded when the button is pressed.

import { data, h, icon, quote, showDialog, t } from "./vdom.js";
import { findMember, membersOf, state } from "./builder-state.js";
import { displayName } from "./builder-logic.js";
import { discardUnsaved, flush, mapProblems, saveStatus } from "./builder-save.js";

const { meta } = state;

// propertyLabels names properties as the panel does.
const propertyLabels = (names) => names.map((name) => [...data.common_properties, ...data.kind_properties].find((p) => p.name === name)?.label ?? {
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
