// Loaded by every page of the workspace: submitting forms. Public forms have form.js.

// A second click must not submit a form again while the first request is running.
function submitOnce(event) {
  if (event.submitter?.formTarget) return; // a preview in a frame
  const form = event.target;
  // Browsers do not submit a value that they cannot parse, such as half a date.
  const unparsed = [...form.elements].find((control) => control.validity?.badInput);
  if (unparsed) {
    unparsed.reportValidity();
    return event.preventDefault();
  }
  if (form.dataset.submitted) event.preventDefault();
  form.dataset.submitted = "yes";
}

addEventListener("DOMContentLoaded", () => {
  for (const form of document.querySelectorAll("form[method=post]")) form.addEventListener("submit", submitOnce);
});

// A page from the back/forward cache can be submitted again.
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-submitted]")) delete form.dataset.submitted;
});
