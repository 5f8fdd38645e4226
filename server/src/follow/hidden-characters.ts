import { setImmediate as yieldToRequests } from 'node:timers/promises'
import { findHidden } from '../domain/hidden-text.ts'
import type { CheckedEntry, UncheckedEntry } from '../domain/history/facts.ts'
import { compareHidden, hiddenStatus } from '../domain/history/hidden-characters.ts'
import type { Repository } from '../domain/repositories/repository.ts'
import { readTexts } from '../git/blobs.ts'
import { mirrorExists } from '../git/mirror.ts'
import { mirrorOf, type SyncContext } from './sync-context.ts'

// As many as one git process reads. Their results are stored in smaller transactions, for which other writers wait.
const entriesPerCheck = 1_000
const entriesPerTransaction = 100
const maxCheckedBytes = 2 * 1024 * 1024
// A long history is checked over several syncs, so that no repository occupies the worker.
const maxCheckMs = 5_000

/**
 * Checks the texts of new entries for hidden characters, newest first, so that lists can show the result without reading git.
 * Returns false if time ran out. Never rejects, because the results of the sync are already stored.
 */
export async function checkHiddenCharacters(context: SyncContext, repository: Repository): Promise<boolean> {
  const { store, log } = context
  const { path } = mirrorOf(context, repository)
  const deadline = performance.now() + maxCheckMs
  try {
    while (mirrorExists(path)) {
      const entries = await store.facts.uncheckedEntries(repository, entriesPerCheck)
      if (entries.length === 0) return true
      const checked = await checkEntries(path, entries, deadline)
      for (let start = 0; start < checked.length; start += entriesPerTransaction) {
        await store.facts.recordHiddenStatus(repository, checked.slice(start, start + entriesPerTransaction))
      }
      if (performance.now() > deadline) return false
    }
  } catch (error) {
    log.warn({ err: error, repository: repository.id }, 'could not check prompts for hidden characters')
  }
  return true
}

/** Checks at least one entry, and no more after the deadline. */
async function checkEntries(mirror: string, entries: UncheckedEntry[], deadline: number): Promise<CheckedEntry[]> {
  // Most texts have nothing hidden. Only for the others does the text before the change matter.
  const { checked, suspicious } = await checkTextsAfter(mirror, entries, deadline)
  const texts = readTexts(mirror, suspicious.flatMap(blobsOf), maxCheckedBytes)
  const next = async (blob: string | null) => (blob === null ? '' : ((await texts.next()).value?.text ?? null))
  try {
    for (const entry of suspicious) {
      const [before, after] = [await next(entry.beforeBlob), await next(entry.afterBlob)]
      // Without the text before the change, everything hidden counts as added.
      checked.push({ ...entry, status: hiddenStatus(compareHidden(before ?? '', after ?? '')) })
      if (performance.now() > deadline) break
      await yieldToRequests()
    }
  } finally {
    await texts.return(undefined)
  }
  return checked
}

async function checkTextsAfter(mirror: string, entries: UncheckedEntry[], deadline: number) {
  const checked: CheckedEntry[] = []
  const suspicious: UncheckedEntry[] = []
  const blobs = entries.flatMap(({ afterBlob }) => afterBlob ?? [])
  const texts = readTexts(mirror, blobs, maxCheckedBytes)
  try {
    for (const entry of entries) {
      const after = entry.afterBlob === null ? '' : ((await texts.next()).value?.text ?? null)
      if (after !== null && findHidden(after, 1).length > 0) suspicious.push(entry)
      else checked.push({ ...entry, status: after === null ? null : 'none' })
      if (performance.now() > deadline) break
      await yieldToRequests()
    }
  } finally {
    await texts.return(undefined)
  }
  return { checked, suspicious }
}

function blobsOf({ beforeBlob, afterBlob }: UncheckedEntry): string[] {
  return [beforeBlob, afterBlob].filter((blob) => blob !== null)
}
