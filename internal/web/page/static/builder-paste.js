// A pasted list becomes questions. Lines with a bullet or a letter, and indented ones, are
// options of the question above them.

import { announce, t } from "./vdom.js";
import { assignAutoKey, edit, findMember, hasProperty, kindOf, kinds, newField, newOption, state } from "./builder-state.js";

const maxLines = 300;
const bullet = /^(\s*([-*•–◦▪☐□○]|\(?[a-z][.)])\s+|\t+|\s{2,})(?=\S)/i;
const number = /^\s*\(?\d{1,3}[.)]\s+/;

// questionsIn returns the questions in lines of text as {label, options}.
export function questionsIn(lines) {
  const questions = [];
  const isList = lines.every((line) => bullet.test(line));
  for (const line of lines.slice(0, maxLines)) {
    const text = line.replace(bullet, "").replace(number, "").replace(/\s+/g, " ").trim().slice(0, 1000);
    if (!isList && bullet.test(line) && questions.length) questions.at(-1).options.push(text);
    else questions.push({ label: text, options: [] });
  }
  return questions;
}

// pasteQuestions adds the questions after one, or at the end. One without a text is replaced.
export function pasteQuestions(uid, lines, goTo) {
  const current = findMember(uid);
  const allKinds = [...kinds.values()];
  const withOptions = current && hasProperty(kindOf(current), "options") ? kindOf(current) : allKinds.find((kind) => kind.type === "choice");
  const withoutOptions = current?.kind && isTextLike(kindOf(current)) ? kindOf(current) : allKinds[0];
  const added = [];
  edit((form) => {
    const at = form.fields.findIndex((f) => f._uid === uid);
    const isReplaced = at >= 0 && !form.fields[at].label;
    let index = at < 0 ? form.fields.length : at + 1;
    if (isReplaced) form.fields.splice(--index, 1);
    for (const { label, options } of questionsIn(lines)) {
      const field = { ...newField(options.length ? withOptions : withoutOptions), label };
      if (options.length) field.options = options.map(newOption);
      form.fields.splice(index++, 0, field);
      added.push(field);
    }
  });
  for (const field of added) {
    assignAutoKey(field._uid);
    for (const option of field.options ?? []) assignAutoKey(field._uid, "options", option._uid);
  }
  goTo(added[0]._uid);
  announce(t("{n} questions added. You can undo this.", { n: added.length }));
  return state.form;
}
const isTextLike = (kind) => kind.has_answer && !kind.properties.some((name) => ["options", "expression", "text"].includes(name));
