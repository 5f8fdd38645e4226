import { connect, type Socket } from 'node:net'

/** An answer as it came over the wire. */
export interface Answer {
  status: number
  /** By name in lower case; of several of one name the last. */
  headers: Map<string, string>
  body: Buffer
}

// Milliseconds.
const patience = 15_000

/** A connection that is kept for the next request, and made anew where the service has closed it. */
export interface Wire {
  /** The answer, or null where the connection was closed without a word. */
  ask(method: string, bytes: Buffer): Promise<Answer | null>
  close(): void
}

export function newWire(port: number): Wire {
  let socket: Socket | null = null
  function close(): void {
    socket?.destroy()
    socket = null
  }
  return {
    async ask(method, bytes) {
      socket ??= await open(port)
      const { answers, closed } = await converse(socket, [bytes], { methods: [method], pause: 0, ends: false })
      const [answer] = answers
      if (closed || answer?.headers.get('connection') === 'close') close()
      // An answer too many is found where the next one is expected.
      else socket.pause()
      return answer ?? null
    },
    close,
  }
}

export interface Manner {
  /** Of the requests that are answered, in order: an answer to HEAD has no body. The service is done once all are. */
  methods: string[]
  /** Milliseconds between the pieces. */
  pause: number
  /** Whether the client says that it is not going to send any more. */
  ends: boolean
  patience?: number
}

export interface Conversation {
  answers: Answer[]
  /** Whether the service closed the connection. */
  closed: boolean
}

/** Sends pieces, and waits until all answers are there or the service closes the connection. */
export function converse(socket: Socket, pieces: Buffer[], manner: Manner): Promise<Conversation> {
  const { methods, pause, ends } = manner
  return new Promise((resolve, reject) => {
    const answers: Answer[] = []
    let rest: Buffer = Buffer.alloc(0)
    const timer = setTimeout(
      () => leave(() => reject(new Error('there was no answer in time'))),
      manner.patience ?? patience,
    )

    function leave(then: () => void): void {
      clearTimeout(timer)
      socket.off('data', take).off('close', close)
      then()
    }
    function readAnswers(closed: boolean): boolean {
      try {
        for (;;) {
          const read = readAnswer(rest, methods[answers.length] ?? 'GET', closed)
          if (read === null) return true
          rest = rest.subarray(read.length)
          if (read.answer.status >= 200) answers.push(read.answer)
        }
      } catch (error) {
        leave(() => reject(error))
        return false
      }
    }
    function take(chunk: Buffer): void {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      if (!readAnswers(false)) return
      if (answers.length >= methods.length && rest.length === 0) leave(() => resolve({ answers, closed: false }))
    }
    function close(): void {
      if (!readAnswers(true)) return
      leave(() => {
        if (rest.length > 0) reject(new Error(`an answer was cut off: ${rest.toString('latin1', 0, 2_000)}`))
        else resolve({ answers, closed: true })
      })
    }
    socket.on('data', take).on('close', close).resume()
    send(socket, pieces, pause, ends).catch(reject)
  })
}

async function send(socket: Socket, pieces: Buffer[], pause: number, ends: boolean): Promise<void> {
  for (const [i, piece] of pieces.entries()) {
    if (i > 0) await new Promise((resolve) => setTimeout(resolve, pause))
    if (socket.writable) socket.write(piece)
  }
  if (ends) socket.end()
}

export function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: false }, () => {
      // A service that has closed may reset what is still on the way to it; the event `close` follows.
      socket.off('error', reject).on('error', () => {})
      resolve(socket)
    })
    socket.once('error', reject)
  })
}

/** The first answer in the bytes with how many of them it takes, or null where it is not all there. */
function readAnswer(bytes: Buffer, method: string, closed: boolean): { answer: Answer; length: number } | null {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return null
  const [first = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n')
  if (!/^HTTP\/1\.1 \d{3} /.test(first)) throw new Error(`this is no answer: ${first}`)
  const status = Number(first.slice(9, 12))
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const start = headEnd + 4
  const whole = (body: Buffer, end: number) => ({ answer: { status, headers, body }, length: end })
  // What is no proper HTTP is answered with a body, even where it was meant to be a HEAD.
  const bodiless = method === 'HEAD' && bytes[start] !== 0x7b
  if (bodiless || status < 200 || status === 204 || status === 304) return whole(Buffer.alloc(0), start)
  if (headers.get('transfer-encoding') === 'chunked') return readChunks(bytes, start, whole)
  const length = headers.get('content-length')
  if (length === undefined) return closed ? whole(bytes.subarray(start), bytes.length) : null
  const end = start + Number(length)
  return bytes.length < end ? null : whole(bytes.subarray(start, end), end)
}

function readChunks<Whole>(bytes: Buffer, start: number, whole: (body: Buffer, end: number) => Whole): Whole | null {
  const chunks: Buffer[] = []
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd < 0) return null
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    const end = lineEnd + 2 + size
    if (bytes.length < end + 2) return null
    if (size === 0) return whole(Buffer.concat(chunks), end + 2)
    chunks.push(bytes.subarray(lineEnd + 2, end))
    at = end + 2
  }
}
