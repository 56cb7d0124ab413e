// Loaded by every page of a form. The scripts for answers are loaded when the respondent
// starts to answer, so that a form opens quickly.
const form = document.querySelector("form.public-form");
let loading;
let onSubmit;

function load() {
  loading ??= import("./form-answers.js").then((answers) => answers.start(form)).then(
    (handler) => { onSubmit = handler; },
    () => { loading = undefined; },
  );
  return loading;
}

// Before the scripts are loaded, submitting waits for them. Without them, the server does
// everything.
function submit(event) {
  if (onSubmit || !form.isConnected) return onSubmit?.(event);
  event.preventDefault();
  event.stopImmediatePropagation();
  return load().then(() => {
    onSubmit ??= () => {};
    form.requestSubmit(event.submitter);
  });
}

// The device may have answers of an earlier visit, see form-keep.js.
function hasKeptAnswers() {
  try {
    return parent === window && Object.keys(localStorage).some((key) => key.startsWith("formulary "));
  } catch {
    return false; // the browser has no storage for this site
  }
}

// In a frame, embed.js on the page around it sets the height, scrolls and follows redirects,
// because the form itself cannot.
function notifyParent() {
  if (parent === window) return;
  const focused = document.querySelector(".sheet > p.problem") ?? document.getElementById(form?.dataset.focus);
  if (focused && focused.tabIndex < 0) focused.tabIndex = -1;
  focused?.focus({ preventScroll: true });
  const question = focused?.closest(".question") ?? focused;
  const sendHeight = () => parent.postMessage({ formularyHeight: document.documentElement.offsetHeight }, "*");
  new ResizeObserver(sendHeight).observe(document.body);
  sendHeight();
  const redirect = document.querySelector("a[data-redirect]");
  if (redirect) parent.postMessage({ formularyTo: redirect.href }, "*");
  parent.postMessage({ formularyAt: question ? question.getBoundingClientRect().top : null }, "*");
}

if (form) {
  // Browsers fill in a page that is loaded again.
  const isLoadedAgain = performance.getEntriesByType("navigation")[0]?.type !== "navigate";
  if (!("fresh" in form.dataset) || isLoadedAgain || form.contains(document.activeElement) || hasKeptAnswers()) load();
  for (const name of ["pointerdown", "focusin", "input"]) form.addEventListener(name, load, { once: true });
  form.addEventListener("submit", submit, { capture: true });
}
notifyParent();
