// The person is back from the authorization page. What is left to do is what every
// application does: see that the answer is ours, and exchange the code.
const answer = new URLSearchParams(location.search);
const asked = JSON.parse(sessionStorage.getItem("api.asked") ?? "null");
sessionStorage.removeItem("api.asked");

async function exchange() {
  const given = await fetch("/api/oauth2/token", { method: "POST", body: new URLSearchParams({
    grant_type: "authorization_code", code: answer.get("code"), redirect_uri: asked.callback,
    client_id: asked.client, code_verifier: asked.verifier,
  }) });
  const said = await given.json();
  if (given.ok) sessionStorage.setItem("api.token", JSON.stringify({ token: said.access_token, scope: said.scope }));
  else sessionStorage.setItem("api.refusal", `${said.error}: ${said.error_description}`);
}

if (!asked || asked.state !== answer.get("state")) {
  const result = document.querySelector("#result");
  result.textContent = result.dataset.nobody;
} else {
  if (answer.has("error")) sessionStorage.setItem("api.refusal", `${answer.get("error")}: ${answer.get("error_description") ?? ""}`);
  else await exchange();
  location.replace(`${asked.back}#try`);
}
