// The filter asks for an answer by what suits the question: a list of what there is to
// choose from, or a date.
const where = document.querySelector("select[name=where]");
const is = document.querySelector("input[name=is]");

function suit() {
  const { type = "text", list = "" } = where.selectedOptions[0].dataset;
  is.type = type;
  is.setAttribute("list", list);
}

if (where) {
  suit();
  where.addEventListener("change", () => {
    is.value = "";
    suit();
  });
}

// One tick for all.
const all = document.querySelector("[data-all]");
if (all) {
  all.hidden = false;
  all.addEventListener("change", (event) => {
    for (const box of document.querySelectorAll("input[name=response]")) box.checked = event.target.checked;
  });
}
