import type { LastIds } from '../domain/archive/archive.ts'
import { invalidField } from '../domain/errors.ts'
import { isWebUrl } from '../domain/history/entry.ts'
import { type Pull, pullEventKinds } from '../domain/history/pull.ts'

/** Throws unless the text is a pull request as the service stores it. Git runs with its hashes, and prompts are found by its IDs. */
export function checkPullDocument(text: string, { prompts: lastPromptId }: LastIds): void {
  const pull = parse(text)
  expect('url', isWebUrl(pull.url))
  expect('title', typeof pull.title === 'string')
  expect('landing', isHashOrNull(pull.landing))
  expect('landed', Array.isArray(pull.landed) && pull.landed.every(isHash))
  expect('events', Array.isArray(pull.events))
  for (const { kind, at, head, headBranch, base, mergeCommit, mergeBase = null } of pull.events) {
    expect('events', pullEventKinds.includes(kind) && Number.isSafeInteger(at) && isHash(head))
    expect('events', typeof headBranch === 'string' && typeof base === 'string' && isHashOrNull(mergeCommit))
    expect('events', isHashOrNull(mergeBase))
  }
  expect('heads', Array.isArray(pull.heads))
  for (const { sha, files, traces } of pull.heads) {
    expect('heads', isHash(sha) && Array.isArray(traces) && Array.isArray(files))
    for (const { path, oldBlob, newBlob, promptId } of files) {
      expect('files', typeof path === 'string' && isHashOrNull(oldBlob) && isHashOrNull(newBlob))
      expect('files', promptId === null || (Number.isSafeInteger(promptId) && promptId > 0 && promptId <= lastPromptId))
    }
  }
}

function parse(text: string): Pull {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as Pull
  } catch {}
  throw invalidField('document', 'must be a JSON object')
}

function expect(member: string, isValid: boolean): void {
  if (!isValid) throw invalidField(`document.${member}`, 'is invalid')
}

function isHash(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9a-f]{7,64}$/.test(value)
}

function isHashOrNull(value: unknown): boolean {
  return value === null || isHash(value)
}
