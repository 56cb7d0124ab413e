// Says in the time zone of the reader when a form opens or closed, if that is another one
// than the owner's.
const time = document.querySelector(".when time");
const local = document.querySelector(".when small");
const at = new Date(time.dateTime);
if (-at.getTimezoneOffset() !== Number(local.dataset.offset)) {
  local.textContent = local.dataset.text.replace("%s", new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "long", timeStyle: "short" }).format(at));
  local.hidden = false;
}
