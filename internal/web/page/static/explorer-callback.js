// The redirect URI of the API explorer: checks the state and exchanges the code for a
// token, as every OAuth application does.
const params = new URLSearchParams(location.search);
const pending = JSON.parse(sessionStorage.getItem("api.authorization") ?? "null");
sessionStorage.removeItem("api.authorization");

async function exchangeCode() {
  const response = await fetch("/api/oauth2/token", { method: "POST", body: new URLSearchParams({
    grant_type: "authorization_code", code: params.get("code"), redirect_uri: pending.redirectUri,
    client_id: pending.clientId, code_verifier: pending.verifier,
  }) });
  const body = await response.json();
  if (response.ok) sessionStorage.setItem("api.token", JSON.stringify({ token: body.access_token, scope: body.scope }));
  else sessionStorage.setItem("api.error", `${body.error}: ${body.error_description}`);
}

if (!pending || pending.state !== params.get("state")) {
  const message = document.querySelector("#message");
  message.textContent = message.dataset.expired;
} else {
  if (params.has("error")) sessionStorage.setItem("api.error", `${params.get("error")}: ${params.get("error_description") ?? ""}`);
  else await exchangeCode();
  location.replace(`${pending.returnPath}#try`);
}
