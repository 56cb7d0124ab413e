// Embeds a form into another site:
//   <script src="https://forms.example.com/embed.js" data-form="frm_…" async></script>
// data-mode is inline (in a frame that fits the height of the form), popup (a button opens
// the form in a dialog), slide-in (a button in the corner of the window opens it there) or
// full-page. data-button is the text of the button, data-title the title of the frame and
// data-close the name of the close button. data-color and data-ink are the colors of the
// button and of its text. data-answer-KEY="…" prefills an answer.
(() => {
  const script = document.currentScript;
  const { form, button: label = "Open form", title = "Form", close = "Close", color, ink } = script.dataset;
  const mode = script.dataset.mode ?? (script.dataset.button ? "popup" : "inline");
  const serviceOrigin = new URL(script.src).origin;
  const url = new URL(`/f/${encodeURIComponent(form)}?embed=${mode === "full-page" ? "full" : 1}`, serviceOrigin);
  for (const { name, value } of script.attributes) {
    if (name.startsWith("data-answer-")) url.searchParams.set(name.slice(12), value);
  }
  const create = (tag, properties = {}, attributes = {}) => {
    const element = Object.assign(document.createElement(tag), properties);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  const frame = create("iframe", { title });
  let dialog;

  // The dialog has styles of its own, whatever those of the site are. The form is loaded
  // when the dialog is opened for the first time.
  const addDialog = () => {
    const host = create("div");
    const root = host.attachShadow({ mode: "open" });
    const styles = new CSSStyleSheet();
    styles.replaceSync(`
      :host { all: initial; }
      button { font: 600 1rem/1.2 system-ui, sans-serif; cursor: pointer; }
      button:focus-visible { outline: .1875rem solid currentColor; outline-offset: -.375rem; }
      dialog { box-sizing: border-box; padding: 0; border: 0; overflow: auto; overscroll-behavior: contain; color-scheme: light dark; color: CanvasText; background: Canvas; border-radius: .75rem; box-shadow: 0 1rem 4rem #0006; }
      dialog::backdrop { background: #0007; }
      header { position: sticky; inset-block-start: 0; z-index: 1; display: flex; justify-content: space-between; align-items: center; gap: 1rem; padding-inline-start: 1.25rem; background: var(--color, Canvas); color: var(--ink, CanvasText); font: 600 1rem/1.2 system-ui, sans-serif; }
      header span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
      header button { flex: none; width: 3rem; height: 3rem; padding: 0; border: 0; background: none; color: inherit; font: 1.75rem/1 sans-serif; }
      iframe { display: block; width: 100%; min-height: 16rem; border: 0; }
      .popup { width: min(44rem, 94vw); max-height: 92vh; }
      .slide-in { position: fixed; inset: auto; inset-block-end: 1rem; inset-inline-end: 1rem; margin: 0; width: min(27rem, 100vw - 2rem); max-height: min(46rem, 100vh - 2rem); }
      .slide-in::backdrop { background: #0003; }
      .open { position: fixed; inset-block-end: 1rem; inset-inline-end: 1rem; z-index: 2147483000; min-height: 3rem; padding: .5rem 1.375rem; border: 0; border-radius: 99rem; background: var(--color, ButtonFace); color: var(--ink, ButtonText); box-shadow: 0 .25rem 1.25rem #0005; }
      @media (max-width: 30rem) { .slide-in { inset-inline: 0; inset-block-end: 0; width: 100%; max-width: none; max-height: 92vh; border-radius: .75rem .75rem 0 0; } }
      @media (prefers-reduced-motion: no-preference) { dialog[open] { animation: arrive .28s cubic-bezier(.2, 0, 0, 1); } }
      @keyframes arrive { from { opacity: 0; transform: translateY(2rem); } }`);
    root.adoptedStyleSheets = [styles];
    if (color) host.style.setProperty("--color", color);
    if (ink) host.style.setProperty("--ink", ink);
    dialog = create("dialog", { className: mode }, { "aria-label": title, "aria-modal": "true" });
    const bar = create("header");
    const closeButton = create("button", { type: "button", textContent: "×" }, { "aria-label": close });
    bar.append(create("span", { textContent: title }, { "aria-hidden": "true" }), closeButton);
    dialog.append(bar, frame);
    const opener = create("button", { type: "button", textContent: label, className: "open" }, { "aria-haspopup": "dialog" });
    closeButton.addEventListener("click", () => dialog.close());
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    opener.addEventListener("click", () => {
      if (!frame.src) frame.src = url;
      dialog.showModal();
    });
    root.append(dialog);
    if (mode === "slide-in") {
      root.prepend(opener);
      script.after(host);
      return;
    }
    // A button among the texts of the site looks like those of the site.
    opener.removeAttribute("class");
    if (color) opener.style.cssText = `min-height:3rem;padding:.5rem 1.375rem;border:0;border-radius:.5rem;font:inherit;font-weight:600;cursor:pointer;background:${color};color:${ink ?? "#fff"}`;
    script.after(opener, host);
  };

  if (mode === "popup" || mode === "slide-in") {
    addDialog();
  } else if (mode === "full-page") {
    frame.src = url;
    frame.style.cssText = "position:fixed;inset:0;width:100%;height:100%;border:0;z-index:2147483000";
    (document.body ?? document.documentElement).append(frame);
  } else {
    frame.src = url;
    frame.style.cssText = "display:block;width:100%;border:0;min-height:16rem";
    script.after(frame);
  }

  // After the first page, each page scrolls to its start or to its first problem.
  let isFirstPage = true;
  const scrollToOffset = (offset) => {
    const top = frame.getBoundingClientRect().top - (dialog?.getBoundingClientRect().top ?? 0);
    if (!isFirstPage && offset !== null) (dialog ?? window).scrollBy({ top: top + offset - 80 });
    else if (!isFirstPage && top < 0) frame.scrollIntoView();
    isFirstPage = false;
  };
  addEventListener("message", ({ source, origin, data }) => {
    if (source !== frame.contentWindow || origin !== serviceOrigin) return;
    if (/^https?:/.test(data?.formularyTo)) location.assign(data.formularyTo);
    if (data?.formularyClose) dialog?.close(); // Escape, while the focus is in the frame
    if (mode === "full-page") return;
    if (data?.formularyHeight > 0) frame.style.height = `${data.formularyHeight}px`;
    if (data?.formularyAt !== undefined) scrollToOffset(data.formularyAt);
  });
})();
