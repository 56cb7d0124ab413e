// Sends the answers. Without a connection it waits and sends them again; the key of the page
// makes sure that they are stored once.

const timeout = 30_000;
const isUnreachable = (response) => !response || [502, 503, 504].includes(response.status);
// Only this button submits a form. For the others, a small file tells whether the server can
// be reached.
const isNext = (button) => !button || button.value === "next";

export class Sender {
  constructor(form, texts, onstored) {
    this.form = form;
    this.texts = texts;
    this.onstored = onstored;
    this.status = Object.assign(document.createElement("p"), { className: "kept waiting", role: "status", hidden: true });
    form.querySelector(".row").before(this.status);
    addEventListener("pageshow", () => this.end());
  }

  end() {
    this.isSending = false;
    this.status.hidden = true;
    this.button?.removeAttribute("aria-busy");
  }

  // request resolves with the response, or with null if the server cannot be reached.
  request(button) {
    const signal = AbortSignal.timeout(timeout);
    if (!isNext(button)) return fetch(new URL("./favicon.svg", import.meta.url), { method: "HEAD", cache: "no-store", signal }).catch(() => null);
    const data = new FormData(this.form);
    data.set("_action", "send");
    const body = this.form.enctype === "multipart/form-data" ? data : new URLSearchParams(data);
    return fetch(this.form.getAttribute("action"), { method: "POST", body, signal }).catch(() => null);
  }

  // connection resolves when it is time to try again: the device is online again, some
  // time has passed, or the button was pressed.
  connection(attempt) {
    return new Promise((resolve) => {
      this.retry = resolve;
      addEventListener("online", resolve, { once: true });
      setTimeout(resolve, Math.min(30, 2 ** attempt) * 1000);
    });
  }

  async send(button) {
    if (this.isSending) return this.retry?.();
    this.isSending = true;
    this.button = button;
    button?.setAttribute("aria-busy", "true");
    let response = await this.request(button);
    for (let attempt = 1; isUnreachable(response); attempt++) {
      this.status.textContent = this.texts.waiting;
      this.status.hidden = false;
      await this.connection(attempt);
      response = await this.request(button);
    }
    this.status.hidden = true;
    const stored = response.status === 200 && isNext(button) ? await response.json().catch(() => null) : null;
    if (!stored) return this.submit(button); // the server answers with a page
    this.onstored();
    return location.assign(stored.to);
  }

  // submit lets the browser load the next page.
  submit(button) {
    const action = Object.assign(document.createElement("input"), { type: "hidden", name: "_action", value: button?.value ?? "next" });
    this.form.append(action);
    HTMLFormElement.prototype.submit.call(this.form);
    action.remove();
  }
}
