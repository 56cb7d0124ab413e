// Uploads one file of a question. If the connection is lost, the upload continues by itself
// where it stopped, as soon as the device is online; if the server does not know how much it
// has received, it starts again.

// backOnline resolves when the device is online again, or after a while: a device can be
// online without reaching the server.
const backOnline = (attempt) => new Promise((resolve) => {
  addEventListener("online", resolve, { once: true });
  if (navigator.onLine) setTimeout(resolve, Math.min(30, 2 ** attempt) * 1000);
});

// encodeName encodes a file name for Content-Disposition (RFC 8187).
const encodeName = (name) => encodeURIComponent(name.toWellFormed?.() ?? name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);

// send sends a file from an offset on.
function send(method, to, file, name, offset, task) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    task.request = request;
    request.open(method, to);
    request.responseType = "json";
    request.setRequestHeader("Content-Type", file.type || "application/octet-stream");
    request.setRequestHeader("Content-Disposition", `attachment; filename*=UTF-8''${encodeName(name)}`);
    request.setRequestHeader("Upload-Offset", offset);
    request.upload.onprogress = (event) => { if (event.lengthComputable) task.onprogress?.((offset + event.loaded) / file.size); };
    request.onloadend = () => resolve(request);
    request.send(file.slice(offset));
  });
}

// received asks how much of an upload the server has; undefined: it does not know the upload.
// If there is no answer, it rejects.
async function received(to) {
  const answer = await fetch(to);
  return answer.ok ? (await answer.json()).offset : undefined;
}

const newName = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (n) => n.toString(16).padStart(2, "0")).join("");
const fakeId = () => `fil_${Array.from(crypto.getRandomValues(new Uint8Array(26)), (n) => "0123456789abcdefghjkmnpqrstvwxyz"[n % 32]).join("")}`;

// upload resolves with what the server knows about the file, or with { status } if the
// server refuses it, or with undefined after cancel. A preview has no address to send to
// and stores nothing.
export function upload(to, file, name, { onprogress, onwait } = {}) {
  const task = { onprogress, canceled: false };
  const run = async () => {
    if (!to) return { id: fakeId(), name, size: file.size, type: file.type };
    let address; // of this upload
    let offset; // where to continue; undefined: send the whole file, null: not known
    for (let attempt = 1; !task.canceled; attempt++) {
      if (address) offset = await received(address).catch(() => null);
      if (offset !== null) {
        if (offset === undefined) address = `${to}&upload=${newName()}`;
        const request = await send(offset === undefined ? "POST" : "PATCH", address, file, name, offset ?? 0, task);
        if (task.canceled) return undefined;
        if (request.status === 201) return request.response;
        const isTemporary = !request.status || request.status === 429 || request.status >= 500;
        const isContinued = offset !== undefined && [400, 409].includes(request.status); // elsewhere than the server expects
        if ((!isTemporary && !isContinued) || (request.status && attempt > 3)) return { status: request.status };
      }
      onwait?.();
      await backOnline(attempt);
    }
    return undefined;
  };
  task.result = run();
  task.cancel = () => { task.canceled = true; task.request?.abort(); };
  return task;
}

// formValue writes a file as the controls of the page do.
export const formValue = (f) => `${f.id}|${f.size}|${f.type}|${f.name}`;

// Submitting the form waits until nothing is being uploaded, and then goes on with the same
// button. It does not go on if a file was refused: the respondent must see that first.
const tasks = new Set();
let waiting; // the button that was pressed
export const beforeSubmit = new Set(); // functions that may still start an upload

export function holdSubmit(form) {
  if (form.dataset.holds) return;
  form.dataset.holds = "yes";
  form.addEventListener("submit", (event) => {
    for (const prepare of beforeSubmit) prepare();
    if (!tasks.size) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    waiting = { button: event.submitter };
    for (const task of tasks) task.onpending();
  }, { capture: true });
}

// track makes the form wait for an upload. onpending is called if it waits.
export function track(task, form, onpending) {
  task.onpending = onpending;
  tasks.add(task);
  task.result.then((result) => setTimeout(() => {
    tasks.delete(task);
    if (!waiting) return;
    waiting.failed ||= result !== undefined && !result.id;
    if (tasks.size) return;
    const { button, failed } = waiting;
    waiting = undefined;
    if (!failed) form.requestSubmit(button);
  }));
}

// changed tells the conditions of the page that an answer has changed.
export const changed = (form) => form.dispatchEvent(new Event("change"));

// create makes an element with properties and children.
export function create(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}
