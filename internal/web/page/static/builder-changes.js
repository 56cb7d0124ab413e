// Describes changes since the published version.

import { h, quote, t } from "./vdom.js";
import { commonProperties, kindProperties } from "./builder-fields.js";
import { membersOf, state } from "./builder-state.js";
import { displayName } from "./builder-logic.js";

const { meta } = state;
const properties = [...commonProperties, ...kindProperties];

// propertyLabels names properties as the panel does.
const propertyLabels = (names) => names.map((name) => properties.find((p) => p.name === name)?.label ?? {
  title: t("Title"), description: t("Description"), language: t("Language"), redirect: t("Redirect to"), submit_label: t("Submit button text"),
  hide_progress: t("Hide progress"), ask_again: t("Allow another response"), forget_answers: t("Keep unfinished answers on their device"), forget_visits: t("Count visits"), show_places: t("Show how many places are left"),
}[name] ?? name).map((label) => t(label)).join(", ");

// changeItem describes a change since the published version.
export function changeItem({ action, subject, key, properties, from, to }) {
  const actionLabel = { added: t("Added"), removed: t("Removed") }[action] ?? t("Edited");
  const member = membersOf().find((m) => m.key === key);
  const removedLabel = meta.removed_labels[key];
  const displayValue = (value) => value === "" ? t("none") : typeof value === "string" ? quote(value) : value;
  const text = action === "reordered" ? subject === "field" ? t("Order of the questions") : t("Order of the endings")
    : key ? (member ? quote(displayName(member)) : removedLabel ? quote(removedLabel) : key) + (properties ? `: ${propertyLabels(properties)}` : "")
    : properties ? subject === "design" ? t("Design") : propertyLabels(properties) : `${propertyLabels([subject])}: ${displayValue(from)} → ${displayValue(to)}`;
  return h("li", h("span.tag", actionLabel), h("span", text));
}
