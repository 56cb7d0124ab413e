import { Preview } from "./preview.js";

// The preview and the moods follow what is chosen.
const form = document.getElementById("design");
const frameName = form.dataset.frame;
const code = document.getElementById("brand-code");
const stage = document.querySelector(".stage");
const query = () => new URLSearchParams(new FormData(form));
let frame = document.querySelector(`iframe[name="${frameName}"]`);

// showScheme shows the preview as on a light or dark screen.
const showScheme = () => {
  const scheme = stage.querySelector("[name=preview_scheme]:checked").value;
  const page = frame.contentDocument?.documentElement;
  if (page) page.dataset.theme = scheme;
};
const watchFrame = () => frame.addEventListener("load", showScheme);

const preview = new Preview(frameName, (next) => {
  frame = next;
  watchFrame();
  next.src = `${form.dataset.preview}?${query()}`;
});

// The server computes the colors. They arrive as a page with the same choices, whose style
// sheet replaces that of this page.
const moodColors = new CSSStyleSheet();
document.adoptedStyleSheets.push(moodColors);
let latest = 0;
async function showColors() {
  const request = ++latest;
  const response = await fetch(`${form.getAttribute("action")}?${query()}`).catch(() => null);
  if (!response?.ok) return;
  const [, before, colors, after] = (await response.text()).split(/^([^]*?)<style>([^]*?)<\/style>([^]*)$/);
  if (request !== latest) return;
  moodColors.replaceSync(colors);
  const page = new DOMParser().parseFromString(before + after, "text/html"); // the policy forbids the style
  document.getElementById("contrast").replaceChildren(...page.getElementById("contrast").childNodes);
}

let timer;
function update() {
  clearTimeout(timer);
  timer = setTimeout(() => { preview.refresh(); showColors(); }, 60);
}

// Pictures are stored at once; the form has their IDs.
for (const part of form.querySelectorAll(".design-picture")) {
  const [file, id] = [part.querySelector("[type=file]"), part.querySelector("[type=hidden]")];
  const status = part.querySelector("[role=status]");
  const show = (value) => {
    id.value = value;
    part.querySelector(".thumb").replaceChildren(...value ? [Object.assign(new Image(), { src: `/pictures/${value}`, alt: "" })] : []);
    part.classList.toggle("filled", Boolean(value));
  };
  const upload = async (picture) => {
    status.textContent = status.dataset.uploading;
    const response = await fetch(part.dataset.upload, { method: "POST", redirect: "manual", headers: { "Content-Type": picture.type }, body: picture }).catch(() => null);
    const body = await response?.json().catch(() => null);
    status.textContent = "";
    if (response?.ok) {
      show(body.id);
      update();
    } else {
      status.textContent = response?.status === 413 ? status.dataset.large : response?.status === 422 ? status.dataset.type : body?.message ?? status.dataset.failed;
    }
  };
  part.classList.toggle("filled", Boolean(id.value));
  part.querySelector(".row").hidden = false;
  file.addEventListener("change", () => {
    const [picture] = file.files;
    file.value = "";
    if (picture) upload(picture);
  });
  part.querySelector("[data-remove]").addEventListener("click", () => { show(""); file.focus(); update(); });
}

form.elements.brand.addEventListener("input", () => { code.value = form.elements.brand.value; });
code.closest("label").hidden = false;
code.addEventListener("input", (event) => {
  event.stopPropagation();
  const short = /^#?([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(code.value.trim());
  const long = /^#?([0-9a-f]{6})$/i.exec(code.value.trim());
  if (!short && !long) return;
  form.elements.brand.value = `#${(long?.[1] ?? short.slice(1).map((c) => c + c).join("")).toLowerCase()}`;
  update();
});
form.addEventListener("input", ({ target }) => { if (!["theme", "keep_answers", "show_places"].includes(target.name)) update(); });
form.querySelector("[formtarget]").hidden = true;
stage.querySelector(".stage-tools").hidden = false;
stage.addEventListener("change", () => {
  stage.classList.toggle("phone", stage.querySelector("[name=preview_width]:checked").value === "phone");
  showScheme();
});
document.querySelector("#theme-rest button")?.click();
watchFrame();
if (frame.contentDocument?.readyState === "complete") showScheme();
