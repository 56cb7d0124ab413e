import * as arctic from 'arctic'

// Generic client with PKCE. The secret is sent with HTTP Basic.
export default async function ({ base, app, scopes, consent }) {
  const client = new arctic.OAuth2Client(app.client_id, app.client_secret, app.redirect_uri)
  const token = `${base}/api/oauth2/token`
  const state = arctic.generateState()
  const verifier = arctic.generateCodeVerifier()
  const away = client.createAuthorizationURLWithPKCE(
    `${base}/authorize`, state, arctic.CodeChallengeMethod.S256, verifier, scopes)
  const back = new URL(await consent(away.href))
  if (back.searchParams.get('state') !== state) throw new Error('the state is another')

  const first = await client.validateAuthorizationCode(token, back.searchParams.get('code'), verifier)
  if (first.accessTokenExpiresAt() < new Date()) throw new Error('the new token counts as expired')
  const second = await client.refreshAccessToken(token, first.refreshToken(), scopes)
  return { access: first.accessToken(), refreshed: second.accessToken() }
}

export const reason = (error) => error.code
