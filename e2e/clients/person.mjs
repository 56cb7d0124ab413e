import { Browser } from './browser.mjs'

// signIn returns the person's answer to every application that asks: a function
// from the authorization address to where the person is sent back to.
export async function signIn(base, email, password) {
  const browser = new Browser()
  const door = await browser.open(`${base}/signin`, { email, password, next: '/' })
  if (door.status !== 303) throw new Error(`signing in was answered ${door.status}`)

  return async function consent(authorizationUrl) {
    const page = await browser.open(authorizationUrl)
    const ticket = /name="ticket" value="([^"]+)"/.exec(page.text)?.[1]
    if (!ticket) throw new Error(`no consent page: ${page.status} ${page.location ?? ''}`)
    const answer = await browser.open(`${base}/authorize`, { ticket, answer: 'allow' })
    if (answer.status !== 303) throw new Error(`Allow Access was answered ${answer.status}`)
    return answer.location
  }
}
