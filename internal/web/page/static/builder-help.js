// The list of keyboard shortcuts.

import { h, showDialog, t } from "./vdom.js";

document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/static/builder-help.css" }));

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);
const mod = isMac ? "⌘" : "Ctrl";
const alt = isMac ? "⌥" : "Alt";

const sections = () => [
  [t("Questions"), [
    [["/"], t("Add a question")], [["Enter"], t("Go to the first option, or add the next question")], [[mod, "D"], t("Duplicate the question")],
    [[alt, "↑"], t("Move the question up")], [[alt, "↓"], t("Move the question down")], [["Delete"], t("Delete the question")], [["Esc"], t("Leave the text and select the question")],
  ]],
  [t("Options"), [[["Enter"], t("Add an option")], [["↑", "↓"], t("Go to another option")], [["Backspace"], t("Delete an empty option")]]],
  [t("Form"), [[[mod, "Z"], t("Undo")], [[mod, isMac ? "⇧ Z" : "Y"], t("Redo")], [["?"], t("Show this list")]]],
];

export const showShortcuts = () => showDialog(t("Keyboard shortcuts"), h("div.shortcuts", sections().map(([title, list]) => h("section",
  h("h3", title), h("dl", list.map(([keys, text]) => h("div", h("dt", text), h("dd", keys.map((key) => h("kbd", key))))))))),
  [["", t("Close"), { autofocus: true }]]);
