// Leads through what the check before publishing found. It is loaded with "Show me".

import { createNode, h, icon, iconButton, t } from "./vdom.js";
import { nameOf, publish, sentence } from "./builder-publish.js";

document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/static/builder-check.css" }));

let bar;
function closeBar() {
  bar?.remove();
  bar = null;
}
function renderBar(isProblem, children) {
  closeBar();
  bar = document.body.appendChild(createNode(h("section.check-bar", { class: `check-bar${isProblem ? " problem" : ""}`, "aria-label": t("Check") }, children)));
}

// showFinding goes to the place of a finding, which the bar below the builder explains.
export function showFinding(findings, i, goTo) {
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
