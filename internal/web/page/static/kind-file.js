// Questions that are answered with files: choosing, dropping, pasting and photographing,
// with progress for each file. Without this script, the page posts the files itself.
import { changed, create, formValue, holdSubmit, track, upload } from "./upload.js";

function enhance(box) {
  const { key, upload: to } = box.dataset;
  const [mostFiles, mostBytes] = [Number(box.dataset.files), Number(box.dataset.size)];
  const texts = JSON.parse(box.dataset.texts);
  const form = box.closest("form");
  const list = box.querySelector(".files");
  const drop = box.querySelector(".drop");
  const input = box.querySelector("input[type=file]");
  const status = create("p", { className: "visually-hidden", role: "status" });
  const problem = create("p", { className: "problem", role: "alert", hidden: true });
  const announce = (text, name) => { status.textContent = text.replace("{name}", name); };
  const complain = (text) => { problem.textContent = text; problem.hidden = !text; };

  function sizeText(bytes) {
    if (bytes < 1 << 20) return texts.kb.replace("%s", Math.max(1, Math.ceil(bytes / 1024)));
    return texts.mb.replace("%s", (bytes / (1 << 20)).toFixed(1).replace(".0", "").replace(".", texts.decimal));
  }

  // Files that failed do not count.
  const count = () => list.querySelectorAll(".file:not([data-state=failed])").length;
  function update() {
    box.classList.toggle("full", count() >= mostFiles);
    input.required = input.required && !count();
    changed(form);
  }

  const action = (text, label, onclick) => {
    const button = create("button", { type: "button", className: "quiet", textContent: text, onclick });
    button.setAttribute("aria-label", label);
    return button;
  };

  function remove(item, name, message) {
    const next = item.nextElementSibling ?? item.previousElementSibling;
    item.remove();
    complain("");
    update();
    announce(message, name);
    (next?.querySelector("button") ?? input).focus();
  }

  const removeButton = (item, name) => action(texts.remove, texts.removeName.replace("{name}", name), () => remove(item, name, texts.removed));

  // A small picture of what was chosen, drawn on the device.
  async function addPicture(item, file) {
    if (!file.type.startsWith("image/")) return;
    const image = await createImageBitmap(file, { resizeWidth: 132 }).catch(() => null);
    if (!image) return;
    const canvas = create("canvas", { className: "file-picture", width: 132, height: 132 });
    const side = Math.min(image.width, image.height);
    canvas.getContext("2d").drawImage(image, (image.width - side) / 2, (image.height - side) / 2, side, side, 0, 0, 132, 132);
    canvas.setAttribute("aria-hidden", "true");
    item.prepend(canvas);
  }

  async function add(file, name) {
    const item = create("li", { className: "file" });
    const title = create("span", { className: "file-name" }, create("bdi", { textContent: name }), " ", create("span", { className: "muted", textContent: sizeText(file.size) }));
    const bar = create("progress", { max: 1, value: 0 });
    bar.setAttribute("aria-label", texts.uploading.replace("{name}", name));
    const state = create("span", { className: "file-state" });
    const actions = create("span", { className: "file-actions" });
    const text = create("div", { className: "file-text" }, title, state);
    item.append(text, actions);
    list.append(item);
    addPicture(item, file);
    const fail = (text, canRetry) => {
      item.dataset.state = "failed";
      bar.remove();
      state.textContent = text;
      status.textContent = `${name}: ${text}`;
      actions.replaceChildren(...canRetry ? [action(texts.retry, texts.retryName.replace("{name}", name), start)] : [], removeButton(item, name));
      update();
    };
    const start = async () => {
      delete item.dataset.state;
      state.textContent = "";
      text.append(bar);
      bar.value = 0;
      const task = upload(to, file, name, {
        onprogress: (share) => { bar.value = share; if (item.dataset.state) { delete item.dataset.state; state.textContent = ""; } },
        onwait: () => { item.dataset.state = "waiting"; state.textContent = texts.waiting; announce(texts.waiting, name); },
      });
      actions.replaceChildren(action(texts.cancel, texts.cancelName.replace("{name}", name), () => { task.cancel(); remove(item, name, texts.canceled); }));
      track(task, form, () => { state.textContent = texts.pending; announce(texts.pending, name); });
      announce(texts.uploading, name);
      update();
      const stored = await task.result;
      if (!stored) return;
      if (!stored.id) {
        fail({ 413: texts.tooLarge, 422: texts.badType }[stored.status] ?? texts.failed, ![413, 422].includes(stored.status));
        return;
      }
      delete item.dataset.state;
      bar.remove();
      state.textContent = "";
      item.append(create("input", { type: "hidden", name: key, value: formValue(stored) }));
      actions.replaceChildren(removeButton(item, name));
      announce(texts.uploaded, name);
      update();
    };
    if (file.size > mostBytes) fail(texts.tooLarge, false);
    else if (file.size === 0) fail(texts.empty, false);
    else await start();
  }

  function addAll(files) {
    complain("");
    for (const file of files) {
      if (count() >= mostFiles) {
        complain(texts.tooMany);
        return;
      }
      add(file, file.name || "file");
    }
  }

  // Files that an earlier page uploaded get a button instead of a checkbox.
  for (const item of list.children) {
    const name = item.querySelector("bdi").textContent;
    item.querySelector(".remove").replaceWith(create("span", { className: "file-actions" }, removeButton(item, name)));
  }

  const pick = (control) => {
    control.addEventListener("change", (event) => { event.stopPropagation(); addAll([...control.files]); control.value = ""; });
    control.removeAttribute("name"); // the files are uploaded one by one
  };
  pick(input);
  if ("photos" in box.dataset && matchMedia("(pointer: coarse)").matches) {
    const camera = create("input", { type: "file", accept: "image/*" });
    camera.setAttribute("capture", "environment");
    pick(camera);
    drop.append(create("label", {}, create("span", { textContent: texts.photo }), camera));
  }
  drop.append(create("span", { className: "muted drop-hint", textContent: texts.drop }));

  // The whole question takes files that are dropped, and those that are pasted into it.
  const question = box.closest(".question");
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  question.addEventListener("dragover", (event) => { if (hasFiles(event)) { event.preventDefault(); drop.classList.add("over"); } });
  question.addEventListener("dragleave", (event) => { if (!question.contains(event.relatedTarget)) drop.classList.remove("over"); });
  question.addEventListener("drop", (event) => {
    drop.classList.remove("over");
    if (!hasFiles(event)) return;
    event.preventDefault();
    addAll([...event.dataTransfer.files]);
  });
  const isOnly = document.querySelectorAll("[data-upload].upload").length === 1;
  document.addEventListener("paste", (event) => {
    const files = [...event.clipboardData?.files ?? []];
    if (!files.length || !(isOnly || question.contains(document.activeElement))) return;
    event.preventDefault();
    addAll(files);
  });

  holdSubmit(form);
  box.append(problem, status);
  box.classList.add("ready");
  update();
}

// A file that misses the box must not replace the page.
for (const name of ["dragover", "drop"]) addEventListener(name, (event) => { if (event.dataTransfer?.types.includes("Files")) event.preventDefault(); });
for (const box of document.querySelectorAll(".upload[data-texts]")) enhance(box);
