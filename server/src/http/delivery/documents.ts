import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { DeliveredPromptBody } from '../../../../contract/delivery.ts'
import type { Access } from '../../domain/access/api-key.ts'
import { createBoundedMap } from '../../domain/bounded-map.ts'
import { type DeliveredPrompt, deliveredPrompts, deliveryIndex } from '../../domain/delivery/delivered-prompt.ts'
import type { Store } from '../../domain/store.ts'
import type { Encoding } from '../console/accepted-encoding.ts'

/** A delivery document, in each encoding that was asked for. */
export interface DeliveryDocument {
  etag: string
  bytes(encoding: Encoding | null): Promise<Buffer>
}

interface Cached {
  /** That of the store's caches when the document was current. */
  generation: number
  document: Promise<DeliveryDocument>
}

export const refreshSeconds = 15
const maxCachedBytes = 64 * 1024 * 1024
const minWeight = 4 * 1024
const compress = {
  // Higher levels take seconds for a thousand prompts, for 2% less.
  br: (text: string) => promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (text: string) => promisify(gzip)(text, { level: 9 }),
}

/** Keeps the documents in memory. After any change in the database they are compared, and written again only if they changed. */
export function createDeliveryDocuments(store: Store) {
  const cache = createBoundedMap<Cached>(maxCachedBytes)

  async function build(access: Access, glob: string | null, known: DeliveryDocument | null): Promise<DeliveryDocument> {
    const index = await deliveryIndex(store, access, glob)
    const etag = `W/"${index.tag}"`
    if (known?.etag === etag) return known
    const prompts = await deliveredPrompts(store, access.organisationId, index)
    const data = { refresh_seconds: refreshSeconds, prompts: prompts.map(toBody) }
    return encodedOnce(etag, JSON.stringify({ data }))
  }

  return {
    /** The document of a key. Rejects if delivery is off. */
    async get(access: Access, glob: string | null): Promise<DeliveryDocument> {
      const generation = store.cacheGeneration()
      const key = JSON.stringify([access.organisationId, access.prompts, glob])
      const cached = cache.get(key)
      if (cached?.generation === generation) return cached.document
      const known = (await cached?.document.catch(() => null)) ?? null
      const document = build(access, glob, known)
      cache.set(key, { generation, document }, minWeight)
      // Otherwise one failure would be the response until something changes.
      document.catch(() => cache.delete(key))
      const bytes = await (await document).bytes(null)
      // At most this, with both compressed forms.
      cache.set(key, { generation, document }, minWeight + 2 * bytes.length)
      return document
    },
  }
}

function encodedOnce(etag: string, text: string): DeliveryDocument {
  const encoded = new Map<Encoding | null, Promise<Buffer>>([[null, Promise.resolve(Buffer.from(text))]])
  return {
    etag,
    bytes(encoding) {
      const bytes = encoded.get(encoding) ?? compress[encoding as Encoding](text)
      encoded.set(encoding, bytes)
      return bytes
    },
  }
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
