// The question before something is removed that other parts of the form use.

import { h, icon, quote, showDialog, t } from "./vdom.js";
import { displayName } from "./builder-logic.js";

export async function confirmRemoval(brokenReferences) {
  const uses = { show_if: t("has a condition that uses it"), jumps: t("has a jump that uses it"), expression: t("uses it in a calculation") };
  const lines = new Set(brokenReferences.map(({ member, property }) => `${quote(displayName(member))} ${uses[property] ?? t("inserts its answer in its text")}`));
  return await showDialog(t("This is used elsewhere in the form"), [
    h("p", t("If you continue, these references are removed:")), h("ul.changes", [...lines].map((line) => h("li", icon("branch"), h("span", line)))),
  ], [["remove", t("Remove and continue"), { class: "danger" }], ["", t("Cancel"), { autofocus: true }]]) === "remove";
}
