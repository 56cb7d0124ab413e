import * as client from 'openid-client'

// As in the quick start of the library: discovery, PKCE and state.
export default async function ({ base, app, scopes, consent }) {
  const config = await client.discovery(new URL(base), app.client_id, app.client_secret, undefined, {
    algorithm: 'oauth2', // metadata of RFC 8414 instead of OpenID Connect
    execute: [client.allowInsecureRequests], // plain HTTP, which is allowed for loopback only
  })
  if (!config.serverMetadata().supportsPKCE()) throw new Error('the metadata does not tell of PKCE')

  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const expectedState = client.randomState()
  const back = await consent(client.buildAuthorizationUrl(config, {
    redirect_uri: app.redirect_uri,
    scope: scopes.join(' '),
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
  }).href)

  const first = await client.authorizationCodeGrant(config, new URL(back), { pkceCodeVerifier, expectedState })
  const second = await client.refreshTokenGrant(config, first.refresh_token)
  return {
    access: first.access_token,
    refreshed: second.access_token,
    get: (url) => client.fetchProtectedResource(config, second.access_token, new URL(url), 'GET'),
  }
}

export const reason = (error) => error.error
