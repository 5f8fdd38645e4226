import { openSocket } from '../../testing/socket.ts'
import { type Connection, exchange, type Response } from './connection.ts'
import type { Contract } from './contract.ts'
import { type Draft, sendable } from './draft.ts'
import type { HostileExchange } from './hostile.ts'
import { noteSignals, type Target } from './target.ts'

const stallTimeoutMs = 60_000

/** Sends input and throws if a response violates the contract. */
export interface Verifier {
  sent: number
  /** How often each kind of input was sent, and each status received. */
  kinds: Map<string, number>
  statuses: Map<string, number>
  /** Kinds of input after which the service closed the connection without a response. */
  closed: Map<string, number>
  /** Ids of the operations that succeeded. */
  succeeded: Set<string>
  request(draft: Draft, connection: Connection): Promise<void>
  attack(hostile: HostileExchange): Promise<void>
}

export function createVerifier(target: Target, contract: Contract): Verifier {
  const verifier: Verifier = {
    sent: 0,
    kinds: new Map(),
    statuses: new Map(),
    closed: new Map(),
    succeeded: new Set(),

    async request(draft, connection) {
      const { method, target: path, bytes, requestId, mayBeMalformed } = sendable(draft, target, verifier.sent++)
      const operationId = contract.find(method, path)?.operation.operationId
      const fail = failure(operationId ?? draft.kind, bytes)
      count(verifier.kinds, draft.kind)
      const response = await connection.exchange(method, bytes).catch((error) => fail(error.message))
      if (response === null) {
        count(verifier.closed, draft.kind)
        return mayBeMalformed ? undefined : fail('closed without a response')
      }
      count(verifier.statuses, String(response.status))
      if (mayBeMalformed && contract.malformedViolation(response) === null) return
      const violation = contract.violation(method, path, response)
      if (violation !== null) fail(violation, response)
      const receivedId = response.headers.get('x-request-id')
      if (requestId !== null && receivedId !== requestId) fail(`the response to ${receivedId}`, response)
      if (draft.kind === 'odd id' && response.status < 300) fail('success for a prompt that does not exist', response)
      if (operationId === undefined || response.status >= 300) return
      verifier.succeeded.add(operationId)
      noteSignals(target, operationId, response)
    },

    async attack({ name, pieces, pauseMs, requests, maxResponses, malformed, afterwards }) {
      const bytes = Buffer.concat(pieces)
      const fail = failure(name, bytes)
      verifier.sent++
      count(verifier.kinds, pauseMs > 0 ? 'slow' : 'hostile')
      const socket = await openSocket(target.port)
      try {
        if (afterwards === 'reset') {
          socket.end(bytes, () => socket.resetAndDestroy())
          return
        }
        const halfClose = afterwards === 'half-close'
        const methods = requests?.map(({ method }) => method) ?? Array<string>(maxResponses).fill('GET')
        // After half-closing, the client waits for the end of the connection to see a surplus response.
        if (halfClose) methods.push('GET')
        const options = { methods, pauseMs, halfClose, timeoutMs: stallTimeoutMs }
        const { responses } = await exchange(socket, pieces, options).catch((error) => fail(error.message))
        if (responses.length === 0) count(verifier.closed, name)
        const isCountWrong =
          responses.length > maxResponses || (malformed === 'never' && responses.length < maxResponses)
        if (isCountWrong) fail(`${responses.length} responses`, responses.at(-1))
        for (const [i, response] of responses.entries()) {
          count(verifier.statuses, String(response.status))
          const rejection = contract.malformedViolation(response)
          if (malformed !== 'never' && rejection === null) continue
          const { method = '', target: path = '' } = requests?.[i] ?? {}
          const violation =
            malformed === 'always'
              ? rejection
              : requests === null
                ? contract.anyViolation(response)
                : contract.violation(method, path, response)
          if (violation !== null) fail(violation, response)
          if (response.status === 201) noteSignals(target, 'createSignal', response)
        }
      } finally {
        socket.destroy()
      }
    },
  }
  return verifier
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

/** Throws with the response and a command that sends the same bytes. */
function failure(name: string, bytes: Buffer): (violation: string, response?: Response) => never {
  return (violation, response) => {
    const escaped = bytes.toString('latin1').replaceAll(/[^\x20-\x7e]|['%\\]/g, (character) => {
      return `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`
    })
    const received = response === undefined ? 'none' : `${response.status} ${response.body.toString('utf8', 0, 500)}`
    throw new Error(`${name}: ${violation}\n  response: ${received}\n  printf '${escaped}' | nc 127.0.0.1 3000`)
  }
}
