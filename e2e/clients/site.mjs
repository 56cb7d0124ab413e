import { once } from 'node:events'
import { createServer } from 'node:http'

// open listens at the redirect URI and returns a function that closes the server. It is
// for libraries that are part of a web site.
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
