const place = document.querySelector("#api");

function start() {
  const ui = window.SwaggerUIBundle({
    url: "/api/v1/openapi.json",
    domNode: place,
    deepLinking: true,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    validatorUrl: null,
    oauth2RedirectUrl: place.dataset.callback,
    onComplete: () => ui.initOAuth({
      clientId: place.dataset.client,
      appName: "this page",
      usePkceWithAuthorizationCodeGrant: true,
      scopes: "forms:read forms:write",
    }),
  });
}

if (window.SwaggerUIBundle) start();
else addEventListener("load", start);
