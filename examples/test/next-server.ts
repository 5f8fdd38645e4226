// Serves the example of a Next.js route with a page that uses it, without Next.js. Prints its URL.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { POST } from '../next-route/route.ts'

const { output } = await build({
  input: fileURLToPath(new URL('next-page.tsx', import.meta.url)),
  write: false,
  logLevel: 'silent',
  transform: { define: { 'process.env.NODE_ENV': '"production"' } },
})
const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Chat</title><link rel="icon" href="data:,">
  <main></main><script type="module" src="/page.js"></script></html>`

async function vote(request: IncomingMessage): Promise<number> {
  const { cookie = '' } = request.headers
  const init = { method: 'POST', headers: { cookie }, body: await text(request) }
  const response = await POST(new Request('https://shop.example/api/votes', init)).catch((error) => {
    console.error(error)
    return new Response(null, { status: 500 })
  })
  return response.status
}

const server = createServer(async (request, response) => {
  if (request.url === '/api/votes') {
    response.writeHead(await vote(request)).end()
  } else if (request.url === '/page.js') {
    response.setHeader('Content-Type', 'text/javascript').end(output[0].code)
  } else {
    response
      .setHeader('Content-Type', 'text/html')
      .setHeader('Set-Cookie', 'user=u-1; HttpOnly; SameSite=Lax')
      .end(page)
  }
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
