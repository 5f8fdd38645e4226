import fc from 'fast-check'
import type { DocumentedOperation } from './contract.ts'
import type { KeyName, Target } from './target.ts'

/** A request in parts. */
export interface Draft {
  kind: 'valid' | 'one mistake' | 'several mistakes' | 'odd id'
  operation: DocumentedOperation
  caller: KeyName | 'session' | 'anonymous'
  method: string
  /** By name, as they appear in the path. Those not given are chosen from the disposable resources on sending. */
  parameters: Record<string, string>
  /** Replaces the operation's path. */
  path: string | null
  query: string
  headers: [name: string, value: string][]
  body: Buffer | null
  [fc.toStringMethod](): string
}

/** A request as bytes. Beyond ASCII, texts have one character for each byte. */
export interface Sendable {
  method: string
  target: string
  bytes: Buffer
  /** The expected X-Request-Id of the response; null if the draft sets one of its own. */
  requestId: string | null
  /** Whether it may be malformed HTTP: unencoded bytes in the target, or headers over the limit. */
  mayBeMalformed: boolean
}

export function draftOf(operation: DocumentedOperation): Draft {
  return {
    kind: 'valid',
    operation,
    caller: 'admin',
    method: operation.method,
    parameters: {},
    path: null,
    query: '',
    headers: [],
    body: null,
    // Printed with a failure. Without this, fast-check prints the documentation of the operation too.
    [fc.toStringMethod]() {
      return `${this.kind}: ${this.method} ${this.path ?? pathOf(this)} by ${this.caller}`
    },
  }
}

export function pathOf({ operation: { path }, parameters }: Draft): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name) => parameters[name] ?? '')
}

export function sendable(draft: Draft, target: Target, number: number): Sendable {
  const { method, operation, query, body } = draft
  const { operationId } = operation.operation
  const parameters = { ...disposableFor(operationId, target), ...draft.parameters }
  const path = draft.path ?? pathOf({ ...draft, parameters })
  const requestTarget = query === '' ? path : `${path}?${query}`
  const headers = [...credentials(draft, target), ...draft.headers]
  const has = (name: string) => headers.some(([other]) => other === name)
  if (operationId === 'receiveDelivery' && !has('X-Gitea-Signature')) {
    headers.push(['X-Gitea-Event', 'push'], ['X-Gitea-Signature', target.hook.sign(body ?? Buffer.alloc(0))])
  }
  const requestId = has('X-Request-Id') ? null : `input-${number}`
  if (requestId !== null) headers.push(['X-Request-Id', requestId])
  if (body !== null) headers.push(['Content-Length', String(body.length)])
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`)
  const head = Buffer.from(`${method} ${requestTarget} HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines.join('')}\r\n`, 'latin1')
  return {
    method,
    target: requestTarget,
    bytes: body === null ? head : Buffer.concat([head, body]),
    requestId,
    mayBeMalformed: head.length > 15_000 || !requestTarget.startsWith('/') || /[^\x21-\x7e]/.test(requestTarget),
  }
}

function disposableFor(operationId: string, { disposable }: Target): Record<string, string> {
  switch (operationId) {
    case 'deletePrompt':
      return { prompt_id: disposable.prompts.shift() ?? 'pmt_gone' }
    case 'revokeKey':
      return { key_id: String(disposable.keys.shift() ?? 999_999) }
    case 'rotateKey':
      return { key_id: String(disposable.keys.at(-1) ?? 999_999) }
    case 'retractSignal': {
      const { promptId, id } = disposable.signals.shift() ?? { promptId: 'pmt_gone', id: 1 }
      return { prompt_id: promptId, signal_id: String(id) }
    }
    default:
      return {}
  }
}

function credentials({ caller, headers, operation }: Draft, target: Target): [string, string][] {
  const has = (...names: string[]) => headers.some(([name]) => names.includes(name))
  if (caller === 'anonymous' || has('Authorization', 'Cookie')) return []
  if (caller !== 'session') return [['Authorization', `Bearer ${target.keys[caller]}`]]
  const signsOut = operation.operation.operationId === 'signOut'
  const cookie = signsOut ? (target.disposable.sessions.shift() ?? 'promptledger_session_0=x') : target.session
  return [
    ['Cookie', cookie],
    ...(has('Origin', 'Sec-Fetch-Site') ? [] : [['Sec-Fetch-Site', 'same-origin'] as [string, string]]),
  ]
}
