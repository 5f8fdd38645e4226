import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The commit behind a ref that git has just written. Null if git keeps it elsewhere, and has to be asked. */
export async function readLooseRef(mirror: string, ref: string): Promise<string | null> {
  const text = await readFile(join(mirror, ref), 'latin1').catch(() => '')
  return /^([0-9a-f]{40}|[0-9a-f]{64})\n$/.test(text) ? text.trimEnd() : null
}
