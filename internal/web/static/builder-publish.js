// Publishing: what is new, then yes or no.

import { announce, dialog, h, icon, say, sentenceOf } from "./builder-view.js";
import { find, members, state } from "./builder-draft.js";
import { nameOf } from "./builder-logic.js";
import { flush, leaving, placeOf, status } from "./builder-save.js";

// The server says changes in lines such as "~ field size: label, help".
function changeLine(line) {
  const [, sign, what, key, rest] = line.match(/^([+~-]) (field|ending) (\w+)(?:: (.*))?$/) ?? [, line[0], "", "", line.slice(2)];
  const member = what && members().find((m) => m.key === key);
  const word = { "+": say("New"), "-": say("Gone"), "~": say("Changed") }[sign] ?? "";
  return h("li", null, h("span", { class: "tag" }, word), h("span", null, what ? member ? `“${nameOf(member)}”` : key : "", what && rest ? ": " : "", rest ?? ""));
}

export async function publish(draw) {
  if (!(await flush())) {
    announce(status.text);
    await dialog(say("Not yet"), h("p", null, status.text, ". ", say("Publishing takes what is saved.")), [["", say("Back to the form")]]);
    const first = state.problems[0] && find(state.problems[0].owner);
    if (first) { state.chosen = first._uid; draw(); }
    return;
  }
  const { version, changes, id } = state.meta;
  const nothing = version > 0 && !changes.length;
  const body = version === 0 ? h("p", null, say("This is the first version. From then on everybody who has its address can answer."))
    : nothing ? h("p", null, say("Nothing has changed since version {n}.", { n: version }))
      : [h("p", null, say("Since version {n}:", { n: version })), h("ul", { class: "changes" }, changes.map(changeLine))];
  const choice = await dialog(say("Publish this form"), body, [["publish", say("Publish"), { class: "primary", disabled: nothing }], ["", say("Not now")]]);
  if (choice !== "publish") return;
  let answer;
  try {
    answer = await fetch(`/forms/${id}/publish`, { method: "POST", redirect: "manual" });
  } catch {
    return void dialog(say("Not published"), h("p", null, say("The service cannot be reached. Please try again in a moment.")), [["", say("Back to the form")]]);
  }
  if (answer.type === "opaqueredirect" || answer.ok) {
    leaving();
    location.assign(`/forms/${id}/share`);
    return;
  }
  const problem = await answer.json().catch(() => null);
  state.problems = (problem?.details ?? []).map((detail) => ({ ...placeOf(detail.field, state.form), message: say(detail.message) }));
  draw();
  dialog(say("Not published"), [
    h("p", null, problem?.message ? say(problem.message) : say("The service would not take it.")),
    h("ul", { class: "changes" }, state.problems.map((p) => h("li", null, icon("warn"), h("span", null, find(p.owner) ? `“${nameOf(find(p.owner))}”: ` : "", sentenceOf(p.message))))),
  ], [["", say("Back to the form")]]);
}
