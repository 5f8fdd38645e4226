// Serves the example for Next.js without Next.js, and prints its URL. Writes beside itself: tests run a copy.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { ReactNode } from 'react'
import { renderToString } from 'react-dom/server'
import { type BuildOptions, build } from 'rolldown'

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const options: BuildOptions = {
  logLevel: 'silent',
  transform: { define: { 'process.env.NODE_ENV': '"production"' } },
}

// Node runs no JSX.
await build({
  ...options,
  input: pathOf('../next-page/answer.tsx'),
  external: /^[^./]/,
  output: { file: pathOf('answer.js') },
})
const { Answer }: { Answer(props: object): Promise<ReactNode> } = await import(pathOf('answer.js'))
const { output } = await build({ ...options, input: pathOf('next-client.ts'), write: false })

const server = createServer(async ({ url = '' }, response) => {
  if (url === '/page.js') {
    response.setHeader('Content-Type', 'text/javascript').end(output[0].code)
    return
  }
  const { id, version } = Object.fromEntries(new URL(url, 'http://localhost').searchParams)
  const answer = renderToString(await Answer({ id, version, text: 'You asked: Why?', user: 'u-1' }))
  response
    .setHeader('Content-Type', 'text/html')
    .end(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Chat</title>
    <link rel="icon" href="data:,"><h1>Chat</h1><main>${answer}</main><script type="module" src="/page.js"></script></html>`)
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
