// Loaded by every page: submitting forms.

// A second click must not submit a form again while the first request is running.
function submitOnce(event) {
  if (event.submitter?.formTarget) return; // a preview in a frame
  const form = event.target;
  // Browsers do not submit a value that they cannot parse, such as half a date.
  const unparsed = [...form.elements].find((control) => control.validity?.badInput);
  if (unparsed && event.submitter?.value !== "back") {
    unparsed.reportValidity();
    return event.preventDefault();
  }
  if (form.dataset.submitted) event.preventDefault();
  form.dataset.submitted = "yes";
}

// After going back, a page that the browser loads again gets its earlier idempotency key,
// so that submitting it again does not store a second response. A page that answers a POST
// needs no such key: the browser repeats the same request.
function restoreKey() {
  const input = document.querySelector("form[data-fresh] > input[name=_key]");
  if (!input) return;
  if (history.state?.key) input.value = history.state.key;
  else history.replaceState({ key: input.value }, "");
}

addEventListener("DOMContentLoaded", () => {
  restoreKey();
  for (const form of document.querySelectorAll("form[method=post]")) form.addEventListener("submit", submitOnce);
  // The server shows problems next to the question and in the language of the form, which
  // may differ from that of the browser.
  for (const form of document.querySelectorAll("form.public-form")) form.noValidate = true;
});

// A page from the back/forward cache can be submitted again.
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-submitted]")) delete form.dataset.submitted;
});
