// The question which version of a form to keep that was changed in two places.

import { h, showDialog, t } from "./vdom.js";
import { kindOf, state } from "./builder-state.js";

export async function chooseVersion(remoteDraft) {
  const description = ({ title, fields }) => {
    const n = fields.filter((f) => kindOf(f).has_answer).length;
    return h("dd", n === 1 ? t("“{title}”, 1 question", { title }) : t("“{title}”, {n} questions", { title, n }));
  };
  const time = new Date(remoteDraft.updated_at ?? Date.now()).toLocaleTimeString();
  let choice = "";
  while (!choice) choice = await showDialog(t("This form was changed elsewhere"), [
    h("p", t("This form was saved by someone else, by an app or in another window while you were editing. Choose which version to keep.")),
    h("dl", h("dt", t("Saved elsewhere at {time}", { time })), description(remoteDraft), h("dt", t("Your version")), description(state.form)),
  ], [["local", t("Keep my version"), { class: "primary" }], ["remote", t("Use their version")]]);
  return choice;
}
