import type { UnavailableError } from '../../domain/errors.ts'
import { overloaded } from '../errors.ts'

/** The body of one delivery, from its first byte until the delivery is stored. */
export interface Upload {
  hookId: string
  bytes: number
  /** Ends an upload that is still arriving; null once it has arrived. */
  abort: ((error: UnavailableError) => void) | null
}

interface UploadLimits {
  /** Bytes in memory, of all uploads and of those to one webhook. */
  maxBytes: number
  maxBytesPerHook: number
  /** Uploads to one webhook that are arriving at the same time. */
  maxPerHook: number
}

/**
 * Limits the memory of webhook bodies. They arrive before their signature can be verified, so anyone may have sent them.
 * What counts is what has arrived, not what was announced. Beyond a limit, the largest or the oldest upload is rejected
 * rather than the newest, so that small deliveries succeed while an attacker sends large ones, or sends nothing.
 */
export interface Uploads {
  add(upload: Upload): void
  receive(upload: Upload, bytes: number): void
  remove(upload: Upload): void
}

interface Group {
  uploads: Set<Upload>
  bytes: number
}

const megabyte = 1024 * 1024

export const uploadLimits: UploadLimits = {
  maxBytes: 40 * megabyte,
  maxBytesPerHook: 32 * megabyte,
  maxPerHook: 32,
}

/** `onReject` is called for each upload that is rejected. */
export function createUploads(limits: UploadLimits, onReject: () => void): Uploads {
  const all: Group = { uploads: new Set(), bytes: 0 }
  const byHook = new Map<string, Group>()

  /** Rejects the largest uploads until the rest fits. */
  function enforce(group: Group, maxBytes: number): void {
    while (group.bytes > maxBytes) {
      const largest = arriving(group).reduce<Upload | null>(larger, null)
      if (largest === null) return
      reject(largest)
    }
  }

  function reject(upload: Upload): void {
    upload.abort?.(overloaded)
    remove(upload)
    onReject()
  }

  function remove(upload: Upload): void {
    const group = byHook.get(upload.hookId)
    if (group === undefined || !group.uploads.delete(upload)) return
    all.uploads.delete(upload)
    all.bytes -= upload.bytes
    group.bytes -= upload.bytes
    if (group.uploads.size === 0) byHook.delete(upload.hookId)
  }

  return {
    add(upload) {
      const group = byHook.get(upload.hookId) ?? { uploads: new Set(), bytes: 0 }
      byHook.set(upload.hookId, group)
      group.uploads.add(upload)
      all.uploads.add(upload)
      if (group.uploads.size <= limits.maxPerHook) return
      const [oldest] = arriving(group)
      if (oldest !== undefined) reject(oldest)
    },
    receive(upload, bytes) {
      const group = byHook.get(upload.hookId) as Group
      upload.bytes += bytes
      group.bytes += bytes
      all.bytes += bytes
      enforce(group, limits.maxBytesPerHook)
      enforce(all, limits.maxBytes)
    },
    remove,
  }
}

function arriving({ uploads }: Group): Upload[] {
  return [...uploads].filter(({ abort }) => abort !== null)
}

function larger(a: Upload | null, b: Upload): Upload {
  return a !== null && a.bytes > b.bytes ? a : b
}
