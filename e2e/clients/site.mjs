import { once } from 'node:events'
import { createServer } from 'node:http'

// open listens where the redirect URI says that the application lives, and
// returns what closes it again. It is for libraries that are a part of a site.
export async function open(redirectUri, handler) {
  const { hostname, port } = new URL(redirectUri)
  const server = createServer(handler).listen(Number(port), hostname)
  await once(server, 'listening')
  return async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  }
}
