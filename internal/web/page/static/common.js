// Loaded by every page.

// storedTheme reads the chosen theme, or stores it if one is given. Without local storage
// a theme lasts until the next page.
function storedTheme(theme) {
  try {
    if (theme) localStorage.setItem("theme", theme);
    return localStorage.getItem("theme");
  } catch {
    return null;
  }
}

// The theme is set before the first paint, so that the page does not flash.
const theme = storedTheme();
if (theme) document.documentElement.dataset.theme = theme;

const isDark = () => document.documentElement.dataset.theme
  ? document.documentElement.dataset.theme === "dark"
  : matchMedia("(prefers-color-scheme: dark)").matches;

function switchTheme() {
  const newTheme = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = newTheme;
  storedTheme(newTheme);
}

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

async function copy(event) {
  const button = event.currentTarget;
  const label = button.querySelector("span");
  const text = label.textContent;
  await navigator.clipboard.writeText(button.dataset.copy);
  label.textContent = button.dataset.copied ?? "Copied";
  setTimeout(() => { label.textContent = text; }, 1500);
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

// Menus close on a click elsewhere and on Escape.
function closeMenus(event) {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (event.type === "keydown" && menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    if (event.type === "keydown" || !menu.contains(event.target)) menu.open = false;
  }
}
addEventListener("click", closeMenus);
addEventListener("keydown", (event) => { if (event.key === "Escape") closeMenus(event); });

addEventListener("DOMContentLoaded", () => {
  restoreKey();
  // Navigation that is wider than the screen scrolls to the current entry.
  for (const entry of document.querySelectorAll("nav [aria-current]")) entry.scrollIntoView({ block: "nearest", inline: "center" });
  for (const button of document.querySelectorAll("[data-theme-switch]")) {
    button.hidden = false;
    button.addEventListener("click", switchTheme);
  }
  for (const form of document.querySelectorAll("form[method=post]")) form.addEventListener("submit", submitOnce);
  // The server shows problems next to the question and in the language of the form, which
  // may differ from that of the browser.
  for (const form of document.querySelectorAll("form.public-form")) form.noValidate = true;
  for (const input of document.querySelectorAll("[data-time-zone]")) input.value = Intl.DateTimeFormat().resolvedOptions().timeZone;
  for (const button of document.querySelectorAll("[data-copy]")) {
    if (!navigator.clipboard) break;
    button.hidden = false;
    button.addEventListener("click", copy);
  }
});

// A page from the back/forward cache can be submitted again.
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-submitted]")) delete form.dataset.submitted;
});
