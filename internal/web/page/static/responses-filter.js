// The menu that adds a filter to the list of responses or to the summary.

// fitFilter offers the comparisons and the control that suit the chosen question.
function fitFilter(question) {
  const { ops, words = "text", type = "text", list } = question.selectedOptions[0].dataset;
  const form = question.form;
  const op = form.elements.op;
  for (const option of op.options) {
    option.hidden = option.disabled = Boolean(ops) && !ops.split(" ").includes(option.value);
    option.textContent = option.dataset[words] ?? option.dataset.text;
  }
  if (ops) op.value = ops.split(" ")[0];
  const options = list && [...document.getElementById(list).options].map((option) => new Option(option.value));
  const control = document.createElement(options ? "select" : "input");
  control.name = "value";
  if (options) control.append(...options);
  else Object.assign(control, { type, autocomplete: "off", maxLength: 1000 });
  if (type === "number") control.step = "any";
  form.elements.value.replaceWith(control);
  fitOperator(op);
}

// fitOperator hides the value if the operator needs none. A part of a text is typed, even
// if the question has options.
function fitOperator(op) {
  const value = op.form.elements.value;
  const needsNone = op.value.endsWith("answered");
  value.closest("label").hidden = value.disabled = needsNone;
}

document.addEventListener("change", ({ target }) => {
  if (target.name === "field") fitFilter(target);
  else if (target.name === "op") fitOperator(target);
});
