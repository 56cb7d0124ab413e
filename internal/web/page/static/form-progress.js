// The progress bar follows the answers while the respondent gives them. The server counts
// those of the other pages.
const form = document.querySelector("form.public-form");
const bar = form.querySelector("progress");
const { max, value } = bar;
const questions = [...form.querySelectorAll(".question")].filter((question) => question.querySelector("[name]"));

const isGiven = (control) => /radio|checkbox/.test(control.type) ? control.checked && !/\.(none|remove)$/.test(control.name) : control.type !== "range" && control.value.trim() !== "";
const isAnswered = (question) => {
  const controls = [...question.querySelectorAll("[name]")];
  const none = controls.find((control) => control.name.endsWith(".none"));
  return none ? !none.checked : controls.some(isGiven);
};
function count() {
  const shown = questions.filter((question) => !question.closest("[hidden]"));
  return [shown.length, shown.filter(isAnswered).length];
}

const [shownAtFirst, answeredAtFirst] = count();
function update() {
  const [shown, answered] = count();
  bar.max = Math.max(1, max + shown - shownAtFirst);
  bar.value = value + answered - answeredAtFirst;
}
for (const name of ["input", "change"]) form.addEventListener(name, update);
new MutationObserver(update).observe(form, { subtree: true, attributeFilter: ["hidden"] }); // questions come and go
