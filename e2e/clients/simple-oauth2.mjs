import { randomUUID } from 'node:crypto'
import { AuthorizationCode } from 'simple-oauth2'

// Defaults: HTTP Basic, scopes separated by spaces. This library has a setting for the
// refresh path.
export default async function ({ base, app, scopes, consent }) {
  const client = new AuthorizationCode({
    client: { id: app.client_id, secret: app.client_secret },
    auth: {
      tokenHost: base,
      tokenPath: '/api/oauth2/token',
      refreshPath: '/api/oauth2/refresh',
      authorizePath: '/authorize',
    },
  })
  const state = randomUUID()
  const back = new URL(await consent(client.authorizeURL({ redirect_uri: app.redirect_uri, scope: scopes, state })))
  if (back.searchParams.get('state') !== state) throw new Error('the state is another')

  const first = await client.getToken({ code: back.searchParams.get('code'), redirect_uri: app.redirect_uri })
  if (first.expired()) throw new Error('the new token counts as expired')
  const second = await first.refresh()
  return { access: first.token.access_token, refreshed: second.token.access_token }
}

export const reason = (error) => error.data?.payload?.error
