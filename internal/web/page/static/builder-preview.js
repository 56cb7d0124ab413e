// The preview: the public page of the saved draft. It is loaded when it is first shown.

import { h, iconButton, t } from "./vdom.js";
import { findMember, pageIndexOf, state } from "./builder-state.js";

document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/static/builder-preview.css" }));

let width = "desktop";
let shownPage = -1;

// updatePreview shows the page of the selected member.
export function updatePreview(reload) {
  const frame = document.querySelector(".preview iframe");
  if (!frame?.offsetParent) return;
  const page = pageIndexOf(state.selectedId);
  const key = findMember(state.selectedId)?.key;
  const scrollToQuestion = () => frame.contentDocument?.getElementById(key)?.closest(".question")?.scrollIntoView({ block: "nearest" });
  if (!reload && shownPage === page && !frame.contentDocument?.querySelector(".step")) return scrollToQuestion();
  const frameRoot = () => frame.contentDocument?.documentElement ?? {}; // an error page of the browser is not accessible
  const scrollTop = shownPage === page ? frameRoot().scrollTop : 0;
  shownPage = page;
  frame.onload = () => { frameRoot().scrollTop = scrollTop; if (!scrollTop) scrollToQuestion(); };
  frame.contentWindow.location.replace(`/forms/${state.meta.id}/preview?page=${page}&field=${key}`);
}

export function preview(render) {
  const widthButton = (name, label) => iconButton(name, label, () => { width = name; render(); }, { "aria-pressed": `${width === name}` });
  return h(`section.preview${width === "phone" ? ".phone" : ""}`, { key: "preview", "aria-label": t("Preview") },
    h("div.inline-row", h("span.muted", t("This is what respondents see. Test responses are not saved.")),
      widthButton("desktop", t("Desktop")), widthButton("phone", t("Phone")), iconButton("reload", t("Reload preview"), () => updatePreview(true))),
    h("iframe", { title: t("Preview") }));
}
