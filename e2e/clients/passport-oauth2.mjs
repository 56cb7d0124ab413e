import { randomUUID } from 'node:crypto'
import express from 'express'
import session from 'express-session'
import passport from 'passport'
import OAuth2Strategy from 'passport-oauth2'
import { Browser } from './browser.mjs'
import { open } from './site.mjs'

export const note = 'refresh by the node-oauth client inside it, as strategies do'

// An Express site with the two routes of the library's documentation, and a browser
// that is redirected between them.
export default async function ({ base, app, scopes, consent }) {
  const strategy = new OAuth2Strategy({
    authorizationURL: `${base}/authorize`,
    tokenURL: `${base}/api/oauth2/token`,
    clientID: app.client_id,
    clientSecret: app.client_secret,
    callbackURL: app.redirect_uri,
    scope: scopes,
    state: true, // stored in the session and checked by the library
  }, (access, refresh, profile, done) => done(null, { access, refresh }))
  const own = new passport.Passport().use(strategy)

  let user, failed
  const site = express()
  site.use(session({ secret: randomUUID(), resave: false, saveUninitialized: false }))
  site.get('/login', own.authenticate('oauth2', { session: false }))
  site.get(new URL(app.redirect_uri).pathname, own.authenticate('oauth2', { session: false }), (req, res) => {
    user = req.user
    res.send('Welcome back')
  })
  site.use((error, req, res, next) => {
    failed = error
    res.status(500).send('Sorry')
  })

  const close = await open(app.redirect_uri, site)
  try {
    const browser = new Browser()
    const away = await browser.open(new URL('/login', app.redirect_uri))
    const home = await browser.open(await consent(away.location))
    if (failed) throw failed
    if (!user) throw new Error(`the callback was answered ${home.status}`)
  } finally {
    await close()
  }
  return { access: user.access, refreshed: await refresh(strategy, user.refresh) }
}

function refresh(strategy, token) {
  return new Promise((resolve, reject) => {
    strategy._oauth2.getOAuthAccessToken(token, { grant_type: 'refresh_token' },
      (error, access) => (error ? reject(new Error(error.data ?? error.message)) : resolve(access)))
  })
}

export const reason = (error) => error.code
