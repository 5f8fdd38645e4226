import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  invalidToken,
  type NewVoteBody,
  newVoteSchema,
  operations,
  votesPerAddress,
  votesPerToken,
} from '../../../../contract/votes.ts'
import { DomainError, invalid } from '../../domain/errors.ts'
import { createMinuteLimit } from '../../domain/minute-limit.ts'
import { minute } from '../../domain/time.ts'
import { castVote } from '../../domain/votes/cast-vote.ts'
import { createTokens, type VerifiedToken } from '../../domain/votes/token.ts'
import type { Context } from '../context.ts'
import { parseBody } from '../json-bodies.ts'
import { route } from '../route.ts'
import { createSchemaChecker } from '../validate.ts'
import { createBatches } from './batches.ts'

const preflightAgeSeconds = 86_400

/**
 * Lets pages of every origin vote and read the response. That is safe here only: a vote is authorised by its token alone, and
 * browsers send no cookies with requests that a `*` permits.
 */
function allowAnyOrigin(reply: FastifyReply): void {
  reply.header('Access-Control-Allow-Origin', '*')
  reply.header('Access-Control-Expose-Headers', 'Retry-After, X-Request-Id')
}

function describePost(reply: FastifyReply): void {
  reply.header('Access-Control-Allow-Methods', 'POST')
  reply.header('Access-Control-Allow-Headers', 'Content-Type')
  reply.header('Access-Control-Max-Age', preflightAgeSeconds)
}

const maxVoters = 50_000
// Room for a token and the longest comment, even if each of its characters is written as two escapes of 6 bytes: "\ud83d\ude00".
export const voteBodyLimit = 32 * 1024

const bodyTypes = ['application/json', 'text/plain']
const checkBody = createSchemaChecker(newVoteSchema)
const logEveryMs = minute
const collectingMs = 20

/** Votes of pages. Outside `api.ts`, because they have a token instead of a key, and it is part of the body. */
export function voteRoutes(
  app: FastifyInstance,
  { store, vault, voters, planLimits, lastUsed, clock, log }: Context,
): void {
  const tokens = createTokens(store.keys, store.prompts, vault)
  const ofToken = createMinuteLimit(votesPerToken, tooManyVotes(votesPerToken, 'token'), maxVoters, clock)
  const ofAddress = createMinuteLimit(votesPerAddress, tooManyVotes(votesPerAddress, 'address'), maxVoters, clock)
  const nextBatch = createBatches(collectingMs)
  let lastLoggedAt = Number.NEGATIVE_INFINITY

  /** Before the body is read and the token verified, so that guessing tokens is limited too. */
  async function limitAddress(request: FastifyRequest): Promise<void> {
    const { clientAddresses: addresses } = request.server
    try {
      ofAddress.count(addresses.networkOf(request))
    } catch (error) {
      if (addresses.isForwardedByUnknown(request)) explainProxies()
      throw error
    }
  }

  /** The log says nothing about the voter. */
  function explainProxies(): void {
    const now = performance.now()
    if (now - lastLoggedAt < logEveryMs) return
    lastLoggedAt = now
    log.warn('rejected votes: they came through a proxy that is not in TRUSTED_PROXIES, so they count as one address')
  }

  async function authorise(request: FastifyRequest, reply: FastifyReply, body: object): Promise<VerifiedToken> {
    await store.refresh()
    const now = clock()
    const token = await tokens.verify((body as Partial<NewVoteBody>).token, now)
    if (token === null) throw new DomainError('unauthorized', invalidToken)
    const turn = request.server.loadShedder.admit(request, reply, token.access)
    if (turn !== undefined) await turn
    lastUsed.record(token.access.keyId, now)
    return token
  }

  app.addContentTypeParser<Buffer>(
    bodyTypes,
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, bytes: Buffer) => parseBody(bytes).value,
  )
  app.addContentTypeParser('*', async () => {
    throw invalid(`The header Content-Type must be ${bodyTypes.join(' or ')}`)
  })
  // onSend also runs for requests that were rejected before they got here.
  app.addHook('onSend', (_request, reply, payload, done) => {
    allowAnyOrigin(reply)
    done(null, payload)
  })

  app.options('/votes', (_request, reply) => {
    describePost(reply)
    return reply.status(204).send()
  })

  route(
    app,
    operations.createVote,
    async (request, reply) => {
      const body = (request.body ?? null) as object | null
      if (body === null) throw invalid('The body is empty: send a JSON object')
      await nextBatch()
      const token = await authorise(request, reply, body)
      const { value, comment = null } = checkBody(body)
      ofToken.count(subjectKey(token))
      return { data: await castVote(store.signals, voters, planLimits, token, { value, comment }, clock()) }
    },
    {
      bodyLimit: voteBodyLimit,
      onRequest: limitAddress,
    },
  )
}

function tooManyVotes(limit: number, sender: string): string {
  return `At most ${limit} votes per minute are accepted from one ${sender}. Try again later.`
}

/** Of a fixed length, so that long subjects take no more memory. */
function subjectKey({ prompt, subject }: VerifiedToken): string {
  return hash('sha256', `${prompt.publicId} ${subject}`, 'base64')
}
