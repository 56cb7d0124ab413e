// Browser keeps cookies and does not follow redirects, so that the caller sees every
// step. Use one per site: both sites are on the same host, where their cookies would
// mix.
export class Browser {
  #cookies = new Map()

  // open gets the URL, or posts the form to it.
  async open(url, form) {
    const answer = await fetch(url, {
      method: form ? 'POST' : 'GET',
      body: form && new URLSearchParams(form),
      headers: { cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      redirect: 'manual',
      signal: AbortSignal.timeout(10_000),
    })
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)
      this.#cookies.set(name, value)
    }
    return { status: answer.status, location: answer.headers.get('location'), text: await answer.text() }
  }
}
