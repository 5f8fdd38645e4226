import { type Agent, type IncomingHttpHeaders, request } from 'node:http'

export interface HttpRequest {
  method?: string
  path: string
  key?: string
  headers?: Record<string, string>
  body?: string
}

export interface HttpResponse {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

const timeoutMs = 15_000

/** Sends a request to the service, with a JSON body if it has one. */
export function send(
  agent: Agent,
  port: number,
  { method = 'GET', path, key, body, ...rest }: HttpRequest,
): Promise<HttpResponse> {
  const headers = {
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...rest.headers,
  }
  return new Promise((resolve, reject) => {
    const options = { agent, host: '127.0.0.1', port, method, path, headers, timeout: timeoutMs }
    const sent = request(options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => {
        const { statusCode = 0, headers } = response
        resolve({ status: statusCode, headers, body: Buffer.concat(chunks).toString() })
      })
      response.on('error', reject)
    })
    sent.on('timeout', () => sent.destroy(new Error(`no response within ${timeoutMs} ms`)))
    sent.on('error', reject)
    sent.end(body)
  })
}
