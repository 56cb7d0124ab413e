import { randomUUID } from 'node:crypto'
import grant from 'grant'
import { Browser } from './browser.mjs'
import { open } from './site.mjs'

export const note = 'has no refresh: the documented request by hand'

// Uses the handler for plain Node and the default scope separator, a comma. The path of
// the registered redirect URI, /connect/formulary/callback, contains the provider's
// name, as the library requires.
export default async function ({ base, app, scopes, consent }) {
  const handler = grant.node({
    config: {
      defaults: { origin: new URL(app.redirect_uri).origin, transport: 'state', state: true },
      formulary: {
        authorize_url: `${base}/authorize`,
        access_url: `${base}/api/oauth2/token`,
        oauth: 2,
        key: app.client_id,
        secret: app.client_secret,
        scope: scopes,
        profile_url: `${base}/api/v1/me`,
        response: ['tokens', 'profile'],
      },
    },
    session: { secret: randomUUID() },
  })

  let result
  const close = await open(app.redirect_uri, async (req, res) => {
    const { response } = await handler(req, res)
    if (!response) return // the handler redirects
    result = response
    res.end('Welcome back')
  })
  try {
    const browser = new Browser()
    const away = await browser.open(new URL('/connect/formulary', app.redirect_uri))
    await browser.open(await consent(away.location))
  } finally {
    await close()
  }
  if (result?.error) throw Object.assign(new Error('grant failed'), { answer: result.error })
  if (!result.profile?.email) throw new Error('the profile has no e-mail address')
  return { access: result.access_token, refreshed: await refresh(base, app, result.refresh_token) }
}

async function refresh(base, app, token) {
  const answer = await fetch(`${base}/api/oauth2/refresh`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: token,
      client_id: app.client_id,
      client_secret: app.client_secret,
    }),
  })
  if (!answer.ok) throw new Error(`the refresh was answered ${answer.status}`)
  return (await answer.json()).access_token
}

export const reason = (error) => error.answer?.error
