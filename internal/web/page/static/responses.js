// The input of the filter matches the selected question: a list of its options, or a date.
const questionSelect = document.querySelector("select[name=where]");
const answerInput = document.querySelector("input[name=is]");

function updateAnswerInput() {
  const { type = "text", list = "" } = questionSelect.selectedOptions[0].dataset;
  answerInput.type = type;
  answerInput.setAttribute("list", list);
}

if (questionSelect) {
  updateAnswerInput();
  questionSelect.addEventListener("change", () => {
    answerInput.value = "";
    updateAnswerInput();
  });
}

const selectAll = document.querySelector("[data-select-all]");
if (selectAll) {
  selectAll.hidden = false;
  selectAll.addEventListener("change", (event) => {
    for (const checkbox of document.querySelectorAll("input[name=response]")) checkbox.checked = event.target.checked;
  });
}
