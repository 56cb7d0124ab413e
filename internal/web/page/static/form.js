// Loaded by every page of a form. The scripts for answers are loaded when the respondent
// starts to answer, so that a form opens quickly.
const form = document.querySelector("form.public-form");
let loading;
let onSubmit;

function load() {
  loading ??= import("./form-answers.js").then((answers) => answers.start(form)).then(
    (handler) => { onSubmit = handler ?? submitOnce; },
    () => { loading = undefined; },
  );
  return loading;
}

// After going back, a page that the browser loads again gets its earlier idempotency key,
// so that submitting it again does not store a second response. A page that answers a POST
// needs no such key: the browser repeats the same request.
const key = form?.querySelector(":scope > input[name=_key]");
const rememberKey = () => { if ("fresh" in form.dataset && history.state?.key !== key.value) history.replaceState({ key: key.value }, ""); };

// Before the scripts are loaded, submitting waits for them. Without them, the server does
// everything.
function submit(event) {
  const { submitter } = event;
  // Browsers do not submit a value that they cannot parse, such as half a date.
  const unparsed = submitter?.value !== "back" && [...form.elements].find((control) => control.validity?.badInput);
  if (unparsed) {
    event.preventDefault();
    unparsed.reportValidity();
    return;
  }
  rememberKey();
  if (!onSubmit) {
    event.preventDefault();
    load().then(() => {
      onSubmit ??= submitOnce;
      form.requestSubmit(submitter);
    });
    return;
  }
  onSubmit(event);
}

// A second click must not submit a form again while the first request is running.
function submitOnce(event) {
  if (form.dataset.submitted) event.preventDefault();
  form.dataset.submitted = "yes";
}

// The device may have answers of an earlier visit. A database without content tells so (see
// form-keep.js), because reading the storage itself would block the page.
async function loadKeptAnswers() {
  const databases = await indexedDB.databases?.().catch(() => []);
  if (databases?.some(({ name }) => name === "formulary")) load();
}

// In a frame, embed.js on the page around it sets the height, scrolls and follows redirects,
// because the form itself cannot.
function notifyParent() {
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
  // The server shows problems next to the question and in the language of the form, which
  // may differ from that of the browser.
  form.noValidate = true;
  if ("fresh" in form.dataset && history.state?.key) key.value = history.state.key;
  // Browsers fill in a page that is loaded again.
  const isLoadedAgain = performance.getEntriesByType("navigation")[0]?.type !== "navigate";
  if (!("fresh" in form.dataset) || isLoadedAgain || form.contains(document.activeElement)) load();
  else if (parent === window && "indexedDB" in window) loadKeptAnswers();
  for (const name of ["pointerdown", "focusin", "input"]) form.addEventListener(name, load, { once: true });
  form.addEventListener("submit", submit);
  addEventListener("pageshow", () => { delete form.dataset.submitted; }); // from the back/forward cache
}
if (parent !== window) notifyParent();
