import { randomUUID } from 'node:crypto'
import { OAuth2Client, OAuth2Fetch, generateCodeVerifier } from '@badgateway/oauth2-client'

// The client discovers the endpoints and the authentication method from the server's
// metadata.
export default async function ({ base, app, scopes, consent }) {
  const client = new OAuth2Client({ server: base, clientId: app.client_id, clientSecret: app.client_secret })
  const step = { redirectUri: app.redirect_uri, state: randomUUID(), codeVerifier: await generateCodeVerifier() }
  const back = await consent(await client.authorizationCode.getAuthorizeUri({ ...step, scope: scopes }))
  const first = await client.authorizationCode.getTokenFromCodeRedirect(back, step)
  const second = await client.refreshToken(first)
  const caller = new OAuth2Fetch({ client, getNewToken: () => second, scheduleRefresh: false })
  return { access: first.accessToken, refreshed: second.accessToken, get: (url) => caller.fetch(url) }
}

export const reason = (error) => error.oauth2Code
