// Editors for files, pictures and endings. They are loaded when they are first needed.

import { announce, h, icon, iconButton, problemText, t } from "./vdom.js";
import { setProperty, state, updateOption } from "./builder-state.js";

document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/static/builder-files.css" }));

const groupLabels = {
  image: t("Images"), pdf: t("PDF"), document: t("Documents"), spreadsheet: t("Spreadsheets"),
  presentation: t("Presentations"), audio: t("Audio"), video: t("Video"), archive: t("Archives"),
};

// groups edits the list of accepted groups of file types.
export const groups = (selected = [], checkbox, set) => Object.entries(groupLabels).map(([group, label]) => checkbox(selected.includes(group), label, (isOn) => {
  const list = Object.keys(groupLabels).filter((g) => g === group ? isOn : selected.includes(g));
  set(list.length ? list : undefined);
}));

const uploads = new Map(); // text about the upload of an option's picture, by its uid

async function uploadPicture(file, uid, list, option, render) {
  const update = (text) => { text ? uploads.set(option._uid, text) : uploads.delete(option._uid); render(); };
  update(t("Uploading…"));
  announce(t("Uploading…"));
  const response = await fetch(`/forms/${state.meta.id}/pictures`, { method: "POST", redirect: "manual", headers: { "Content-Type": file.type }, body: file }).catch(() => null);
  const body = await response?.json().catch(() => null);
  if (!response?.ok) {
    update(response?.status === 413 ? t("This picture is too large.") : response?.status === 422 ? t("Choose a JPEG, PNG, GIF or WebP picture.") : body?.message ?? t("The picture could not be uploaded. Try again."));
    announce(uploads.get(option._uid));
    return;
  }
  update("");
  updateOption(uid, list, option._uid, (o) => { o.image = body.id; });
  announce(t("Picture added"));
}

// picture edits the picture of an option and what it shows.
export function picture(uid, list, option, { problemsAt, render }) {
  const id = `picture-${option._uid}`;
  const status = uploads.get(option._uid);
  const set = (name, value, tag) => updateOption(uid, list, option._uid, (o) => setProperty(o, name, value), tag);
  return h("div.option-picture",
    h(`label.picture-input${option.image ? ".filled" : ""}`,
      option.image ? h("img", { src: `/pictures/${option.image}`, alt: "" }) : icon("plus"),
      h("span", option.image ? t("Replace picture") : t("Add picture")),
      h("input", { type: "file", accept: "image/jpeg,image/png,image/gif,image/webp", onchange: ({ target }) => { const [file] = target.files; target.value = ""; if (file) uploadPicture(file, uid, list, option, render); } })),
    option.image && iconButton("trash", t("Remove picture"), () => { set("image", undefined); set("alt", undefined); }),
    h("label.picture-alt", { for: id }, t("Alternative text"),
      h("input", { id, type: "text", dir: "auto", maxlength: 500, required: Boolean(option.image), placeholder: t("What the picture shows"), value: option.alt, oninput: ({ target }) => set("alt", target.value, "alt") })),
    status && (status === t("Uploading…") ? h("p.muted", status) : problemText(status)),
    ["image", "alt"].map((name) => problemsAt(`${option._uid}.${name}`)));
}

// endingPanel has the properties of an ending.
export function endingPanel(ending, { editorFor, panelHeader, advanced }) {
  const editor = (name, input, label, help, type) => editorFor(ending, { name, input, label, help, type });
  return [
    panelHeader(icon("flag"), t("Ending"), t("Respondents see the first ending whose condition is true, unless a jump sends them to another one.")),
    editor("title", "text", t("Title")), editor("text", "textarea", t("Text"), t("Markdown supported. Use {{key}} to insert an answer.")),
    editor("summary", "checkbox", t("Show the answers"), t("Respondents can unfold a list of their answers")),
    editor("button_label", "text", t("Button text")), editor("button_url", "text", t("Button link"), t("Such as https://example.com/directions")),
    advanced([
      editor("event_start", "date", t("Starts"), t("In the time zone of your account"), "datetime-local"), editor("event_end", "date", t("Ends"), "", "datetime-local"),
      editor("event_title", "text", t("Event title"), t("The title of the form if left blank")), editor("event_place", "text", t("Place")),
    ], t("Calendar event")),
    editor("redirect", "text", t("Redirect to"), t("Redirect to this address instead of showing a message, such as https://example.com/thanks")),
    editor("show_if", "condition", t("Visibility")), advanced(editor("key", "text", t("Key"), t("Identifies this ending in jumps and in the API"))),
  ];
}
