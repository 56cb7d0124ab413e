// Time zones by search: all that the browser knows, by region or city, with the time there.
const input = document.querySelector("[name=time_zone]");
const zones = document.querySelector("#zones");
const own = document.querySelector("[data-own-zone]");

function fillZones() {
  const now = new Date();
  zones.replaceChildren(...["UTC", ...Intl.supportedValuesOf("timeZone")].map((zone) => {
    const option = document.createElement("option");
    option.value = zone;
    const time = now.toLocaleTimeString(document.documentElement.lang, { timeZone: zone, timeStyle: "short" });
    option.label = `${zone.split("/").at(-1).replaceAll("_", " ")}, ${time}`;
    return option;
  }));
}
if (Intl.supportedValuesOf) input.addEventListener("focus", fillZones, { once: true });

// The lists show what matches the text, so the text is selected: typing replaces it.
for (const search of document.querySelectorAll("[data-search]")) search.addEventListener("focus", () => search.select());

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone && zone !== (input.value || "UTC")) {
  const button = own.querySelector("button");
  button.textContent = button.textContent.replace("{zone}", zone);
  button.addEventListener("click", () => {
    input.value = zone;
    own.hidden = true;
    input.focus();
  });
  own.hidden = false;
}
