import { randomUUID } from 'node:crypto'
import ClientOAuth2 from 'client-oauth2'

// Defaults: HTTP Basic, scopes separated by spaces, refresh at the token endpoint.
export default async function ({ base, app, scopes, consent }) {
  const client = new ClientOAuth2({
    clientId: app.client_id,
    clientSecret: app.client_secret,
    accessTokenUri: `${base}/api/oauth2/token`,
    authorizationUri: `${base}/authorize`,
    redirectUri: app.redirect_uri,
    scopes,
  })
  const state = randomUUID()
  const back = await consent(client.code.getUri({ state }))
  const first = await client.code.getToken(back, { state })
  if (first.expired()) throw new Error('the new token counts as expired')
  const second = await first.refresh()
  return {
    access: first.accessToken,
    refreshed: second.accessToken,
    get: (address) => {
      const { url, ...request } = second.sign({ method: 'get', url: address })
      return fetch(url, request)
    },
  }
}

export const reason = (error) => error.body?.error
