// The API explorer sends requests from the reference. It gets its access token through the
// OAuth flow, as every application does, and keeps it in this tab only.
const explorer = document.querySelector(".explorer");
const form = explorer?.querySelector("form");
const config = form?.dataset;

const storedToken = () => JSON.parse(sessionStorage.getItem("api.token") ?? "null");

function updateTokenControls() {
  const token = storedToken();
  for (const el of form.querySelectorAll("[data-with-token]")) el.hidden = !token;
  for (const el of form.querySelectorAll("[data-without-token]")) el.hidden = Boolean(token);
}

function showResult(message, body = "") {
  const result = form.querySelector(".result");
  result.querySelector("p").textContent = message;
  const pre = result.querySelector("pre");
  pre.textContent = body;
  pre.hidden = !body;
}

const base64url = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const randomString = () => base64url(crypto.getRandomValues(new Uint8Array(32)));

// The new token replaces the current one, so it requests the scopes of that one as well.
function requestedScopes() {
  const scopes = new Set((storedToken()?.scope ?? "").split(",").concat(config.scope.split(",")));
  scopes.delete("");
  return scopes.size ? [...scopes].join(",") : "forms:read";
}

async function authorize() {
  if (!crypto.subtle) return showResult(config.insecure);
  const verifier = randomString();
  const state = randomString();
  const challenge = base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))));
  sessionStorage.setItem("api.authorization", JSON.stringify({ verifier, state, clientId: config.clientId, redirectUri: config.redirectUri, returnPath: location.pathname }));
  location.assign("/authorize?" + new URLSearchParams({
    response_type: "code", client_id: config.clientId, redirect_uri: config.redirectUri, scope: requestedScopes(), state,
    code_challenge: challenge, code_challenge_method: "S256",
  }));
}

async function revoke() {
  const { token } = storedToken();
  sessionStorage.removeItem("api.token");
  updateTokenControls();
  showResult("");
  await fetch("/api/oauth2/revoke", { method: "POST", body: new URLSearchParams({ token, client_id: config.clientId }) });
}

// buildRequest returns the arguments of fetch.
function buildRequest() {
  let path = config.path;
  const query = new URLSearchParams();
  const headers = {};
  let body;
  for (const input of form.querySelectorAll("[data-in]")) {
    const { name, value } = input;
    if (input.dataset.in === "path") path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (input.dataset.in === "body") {
      body = value;
      headers["Content-Type"] = "application/json";
    } else if (value && input.dataset.in === "query") query.append(name, value);
    else if (value) headers[name] = value;
  }
  const token = config.noAuth ? null : storedToken()?.token;
  if (token) headers.Authorization = `Bearer ${token}`;
  return [path + (query.size ? `?${query}` : ""), { method: config.method, headers, body, credentials: "omit" }];
}

const maxShownLength = 20_000;

function formatBody(contentType, text) {
  if (!contentType?.includes("json")) return text.slice(0, maxShownLength);
  try {
    return JSON.stringify(JSON.parse(text), null, 2).slice(0, maxShownLength);
  } catch {
    return text.slice(0, maxShownLength); // JSON Lines
  }
}

// showStream shows server-sent events as they arrive, until the next request.
async function showStream(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text = (text + part.value).slice(-maxShownLength);
    showResult(String(response.status), text);
  }
}

let running = new AbortController();

async function sendRequest(event) {
  event.preventDefault();
  running.abort();
  const current = running = new AbortController();
  showResult(config.sending);
  const startedAt = performance.now();
  try {
    const [path, options] = buildRequest();
    const response = await fetch(path, { ...options, signal: current.signal });
    if (response.headers.get("Content-Type") === "text/event-stream") return await showStream(response);
    const text = await response.text();
    showResult(`${response.status} · ${Math.round(performance.now() - startedAt)} ms`, formatBody(response.headers.get("Content-Type"), text));
    if (response.status === 401) {
      sessionStorage.removeItem("api.token");
      updateTokenControls();
    }
  } catch {
    if (!current.signal.aborted) showResult(config.unreachable);
  }
}

// Without session storage the OAuth flow cannot finish, so the explorer stays hidden.
function hasSessionStorage() {
  try {
    return Boolean(sessionStorage);
  } catch {
    return false;
  }
}

if (form && hasSessionStorage()) {
  explorer.hidden = false;
  explorer.open = location.hash === "#try" || Boolean(storedToken());
  updateTokenControls();
  form.querySelector("button[data-without-token]")?.addEventListener("click", authorize);
  form.querySelector("button[data-with-token]")?.addEventListener("click", revoke);
  form.addEventListener("submit", sendRequest);
  const error = sessionStorage.getItem("api.error");
  sessionStorage.removeItem("api.error");
  if (error) showResult(error);
}
