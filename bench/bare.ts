import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

// The baseline: what node:http alone can do. POST parses the body and responds as the service would, but stores nothing.
// GET sends the bytes of the file named on the command line.

const page = process.argv[2] === undefined ? Buffer.alloc(0) : readFileSync(process.argv[2])
let id = 0

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': page.length })
    response.end(page)
    return
  }
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { value } = JSON.parse(Buffer.concat(chunks).toString())
    const body = JSON.stringify({ data: { id: ++id, value, created_at: new Date().toISOString() } })
    response.writeHead(201, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
    })
    response.end(body)
  })
})

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number }
  process.stdout.write(`${JSON.stringify({ address: `http://127.0.0.1:${port}` })}\n`)
})
