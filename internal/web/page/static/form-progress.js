// The progress bar follows the answers while the respondent gives them. The server counts
// those of the other pages.

// isGiven reports whether a control has a value, now or when the page was opened.
function isGiven(control, atFirst) {
  if (/radio|checkbox/.test(control.type)) return (atFirst ? control.defaultChecked : control.checked) && !/\.(none|remove)$/.test(control.name);
  if (control.options && atFirst) return [...control.options].some((option) => option.defaultSelected && option.value !== "");
  return control.type !== "range" && (atFirst ? control.defaultValue ?? "" : control.value).trim() !== "";
}

function isAnswered(question, atFirst) {
  const controls = [...question.querySelectorAll("[name]")];
  const none = controls.find((control) => control.name.endsWith(".none"));
  if (none) return !(atFirst ? none.defaultChecked : none.checked);
  return controls.some((control) => isGiven(control, atFirst));
}

export function watchProgress(form) {
  const bar = form.querySelector("progress");
  if (!bar || form.matches(".step")) return;
  const { max, value } = bar;
  const questions = [...form.querySelectorAll(".question")].filter((question) => question.querySelector("[name]"));
  const count = (atFirst) => {
    const shown = questions.filter((question) => !question.closest("[hidden]"));
    return [shown.length, shown.filter((question) => isAnswered(question, atFirst)).length];
  };
  const [shownAtFirst, answeredAtFirst] = count(true);
  const update = () => {
    const [shown, answered] = count(false);
    bar.max = Math.max(1, max + shown - shownAtFirst);
    bar.value = value + answered - answeredAtFirst;
  };
  for (const name of ["input", "change"]) form.addEventListener(name, update);
  new MutationObserver(update).observe(form, { subtree: true, attributeFilter: ["hidden"] }); // questions come and go
  update();
}
