import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
// As a whole, because Node has had zstd since 22.15 only.
import zlib, { constants, createBrotliCompress, createGzip } from 'node:zlib'
import type { DeliveredPromptBody } from '../../../../contract/delivery.ts'
import type { Access } from '../../domain/access/api-key.ts'
import {
  type DeliveredPrompt,
  type DeliveryIndex,
  deliveredPrompts,
  deliveryIndex,
  documentTooLarge,
  maxDocumentBytes,
} from '../../domain/delivery/delivered-prompt.ts'
import { createSharedMap } from '../../domain/shared-map.ts'
import type { Store } from '../../domain/store.ts'
import { delay, nextTurn } from '../../domain/time.ts'
import type { Answer } from '../answer.ts'
import { createReadPool } from '../history/read-pool.ts'

/** A delivery document in one encoding. */
interface DeliveryDocument {
  etag: string
  /** Null if it is too large. */
  bytes: Buffer | null
}

interface CachedTag {
  /** That of the store's caches when the tag was current. */
  generation: number
  etag: Promise<string>
}

const refreshSeconds = 15

const megabyte = 1024 * 1024
const maxTags = 20_000
// Each key and each glob has its own.
const maxTagsOfOrganisation = 200
const maxCachedBytes = 64 * megabyte
const maxCachedBytesOfOrganisation = 2 * maxDocumentBytes
const minBytes = 1024
// Each part that is compressed waits for a thread.
const partLength = 256 * 1024
// Most of the time of a build is spent on compression, in a thread. There are four of them, which names and files need too.
const limitsOfBuilds = { reads: 2, readsPerOrganisation: 1 }
const maxRestMs = 500

/**
 * Keeps the documents in memory, compressed. After any change in the database their tags are compared, and a document is written again
 * only if its tag differs and a client asks for it.
 */
export function createDeliveryDocuments(store: Store) {
  const tags = createSharedMap<CachedTag>(maxTags, maxTagsOfOrganisation)
  const documents = createSharedMap<DeliveryDocument>(maxCachedBytes, maxCachedBytesOfOrganisation)
  const comparing = new Map<number, Promise<void>>()
  const building = new Map<string, Promise<DeliveryDocument>>()
  const builds = createReadPool(limitsOfBuilds)

  /** Reads one index of an organisation at a time: a request is admitted as a light one, because most have nothing to compare. */
  function compare(organisationId: number, read: () => Promise<DeliveryIndex>): Promise<DeliveryIndex> {
    const index = (comparing.get(organisationId) ?? Promise.resolve()).then(read)
    const done = index.then(nextTurn, nextTurn).then(() => {
      if (comparing.get(organisationId) === done) comparing.delete(organisationId)
    })
    comparing.set(organisationId, done)
    return index
  }

  /** The tag of the current document. Rejects if delivery is off. */
  function etag(access: Access, glob: string | null): Promise<string> {
    const { organisationId } = access
    const key = JSON.stringify([access.prompts, glob])
    const generation = store.cacheGeneration()
    const cached = tags.get(organisationId, key)
    if (cached?.generation === generation) return cached.etag
    const current = compare(organisationId, () => deliveryIndex(store, access, glob)).then(etagOf)
    tags.set(organisationId, key, { generation, etag: current })
    // Otherwise one failure would be the response until something changes.
    current.catch(() => tags.delete(organisationId, key))
    return current
  }

  async function build(access: Access, glob: string | null, encoding: Encoding | null): Promise<DeliveryDocument> {
    const index = await deliveryIndex(store, access, glob)
    const tooLarge = documentTooLarge()
    const write = () => encode(toJson(store, access.organisationId, index, tooLarge), encoding, index.bytes)
    const bytes =
      index.bytes > maxDocumentBytes
        ? null
        : await write().catch((error) => {
            if (error === tooLarge) return null
            throw error
          })
    return { etag: etagOf(index), bytes }
  }

  /** An organisation that has documents built all the time gets half of a thread. */
  function inTurn(organisationId: number, build: () => Promise<DeliveryDocument>): Promise<DeliveryDocument> {
    const { promise, resolve, reject } = Promise.withResolvers<DeliveryDocument>()
    const run = async () => {
      const startedAt = performance.now()
      await build().then(resolve, reject)
      await delay(Math.min(performance.now() - startedAt, maxRestMs))
    }
    builds.run(organisationId, run).catch(reject)
    return promise
  }

  return {
    etag,

    /** The document in this encoding. Rejects if it is too large. */
    async get(
      access: Access,
      glob: string | null,
      encoding: Encoding | null,
    ): Promise<{ etag: string; bytes: Buffer }> {
      const { organisationId } = access
      const current = await etag(access, glob)
      const key = JSON.stringify([access.prompts, glob, encoding])
      let document = documents.get(organisationId, key)
      if (document?.etag !== current) {
        const ownKey = `${organisationId} ${key}`
        const built =
          building.get(ownKey) ??
          inTurn(organisationId, () => build(access, glob, encoding)).finally(() => building.delete(ownKey))
        building.set(ownKey, built)
        document = await built
        documents.set(organisationId, key, document, minBytes + (document.bytes?.length ?? 0))
      }
      const { etag: ofDocument, bytes } = document
      if (bytes === null) throw documentTooLarge()
      return { etag: ofDocument, bytes }
    },
  }
}

export function documentHeaders(etag: string): Answer['headers'] {
  return { etag, vary: 'Accept-Encoding', 'cache-control': 'private, no-cache' }
}

/** For a client whose document is current. */
export function unchangedAnswer(etag: string): Answer {
  return { status: 304, headers: documentHeaders(etag), body: '' }
}

function etagOf({ tag }: DeliveryIndex): string {
  return `W/"${tag}"`
}

/** The document in parts, so that its JSON is never in memory as a whole. Fails with `tooLarge` where it exceeds the limit. */
async function* toJson(
  store: Store,
  organisationId: number,
  index: DeliveryIndex,
  tooLarge: Error,
): AsyncGenerator<Buffer> {
  let bytes = 0
  const part = (text: string) => {
    const encoded = Buffer.from(text)
    bytes += encoded.length
    if (bytes > maxDocumentBytes) throw tooLarge
    return encoded
  }
  let text = `{"data":{"refresh_seconds":${refreshSeconds},"prompts":[`
  let separator = ''
  for await (const prompt of deliveredPrompts(store, organisationId, index)) {
    text += separator + JSON.stringify(toBody(prompt))
    separator = ','
    if (text.length < partLength) continue
    yield part(text)
    text = ''
  }
  yield part(`${text}]}}`)
}

// More than a thousand prompts have. Higher levels take seconds for them, for 5% less; larger documents must not occupy a thread as long.
const maxWellCompressedBytes = 2 * megabyte

// Python has had zstd since 3.14, and never Brotli.
const compressors = {
  br: (bytes: number) =>
    createBrotliCompress({
      chunkSize: partLength,
      params: {
        [constants.BROTLI_PARAM_QUALITY]: bytes <= maxWellCompressedBytes ? 9 : 5,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes,
      },
    }),
  zstd: (bytes: number) =>
    zlib.createZstdCompress({
      chunkSize: partLength,
      params: { [constants.ZSTD_c_compressionLevel]: bytes <= maxWellCompressedBytes ? 15 : 9 },
    }),
  gzip: () => createGzip({ chunkSize: partLength, level: 9 }),
}

const hasZstd = typeof zlib.createZstdCompress === 'function'

type Encoding = keyof typeof compressors

/** Those of documents, best first. */
export const documentEncodings: readonly Encoding[] = ['br', ...(hasZstd ? (['zstd'] as const) : []), 'gzip']

/** `bytes` is about how long the document is. */
async function encode(json: AsyncGenerator<Buffer>, encoding: Encoding | null, bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  const collect = async (output: AsyncIterable<Buffer>) => {
    for await (const chunk of output) chunks.push(chunk)
  }
  if (encoding === null) await collect(json)
  else await pipeline(Readable.from(json), compressors[encoding](bytes), collect)
  return Buffer.concat(chunks)
}

function toBody({ prompt, commitSha, text, trial }: DeliveredPrompt): DeliveredPromptBody {
  return {
    id: prompt.publicId,
    name: prompt.name,
    path: prompt.path ?? prompt.name,
    version: commitSha,
    text,
    trial: trial && { id: trial.id, share: trial.share, version: trial.commitSha, text: trial.text },
  }
}
