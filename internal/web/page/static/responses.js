import "./live.js";

// The input of the filter matches the selected question: a list of its options, or a date.
const answerInput = () => document.querySelector("input[name=is]");

function updateAnswerInput(questionSelect) {
  const { type = "text", list = "" } = questionSelect.selectedOptions[0].dataset;
  answerInput().type = type;
  answerInput().setAttribute("list", list);
}

// prepare also runs when the first response replaces the empty state.
function prepare() {
  const questionSelect = document.querySelector("select[name=where]");
  if (questionSelect) updateAnswerInput(questionSelect);
  const selectAll = document.querySelector("[data-select-all]");
  if (selectAll) selectAll.hidden = false;
}

prepare();
document.addEventListener("live-replaced", prepare);
document.addEventListener("change", ({ target }) => {
  if (target.name === "where") {
    answerInput().value = "";
    updateAnswerInput(target);
  } else if (target.closest("[data-select-all]")) {
    for (const checkbox of document.querySelectorAll("input[name=response]")) checkbox.checked = target.checked;
  }
});
