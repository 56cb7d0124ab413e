import { Browser } from './browser.mjs'

// signIn signs in a user and returns a function that allows access: it takes the
// authorization URL and returns the redirect URL.
export async function signIn(base, email, password) {
  const browser = new Browser()
  const response = await browser.open(`${base}/signin`, { email, password, next: '/' })
  if (response.status !== 303) throw new Error(`signing in was answered ${response.status}`)

  return async function consent(authorizationUrl) {
    const page = await browser.open(authorizationUrl)
    const ticket = /name="ticket" value="([^"]+)"/.exec(page.text)?.[1]
    if (!ticket) throw new Error(`no consent page: ${page.status} ${page.location ?? ''}`)
    const answer = await browser.open(`${base}/authorize`, { ticket, answer: 'allow' })
    if (answer.status !== 303) throw new Error(`Allow Access was answered ${answer.status}`)
    return answer.location
  }
}
