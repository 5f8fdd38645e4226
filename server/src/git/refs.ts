import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

// A mirror keeps its refs as files, each in one of its own or together in `packed-refs`: `createRepository` selects that format. To read them
// takes less than to start git, which a sync would otherwise do several times.

/** The commit behind a ref of a mirror; null if there is none. */
export async function readRef(mirror: string, ref: string): Promise<string | null> {
  return (await readLoose(mirror, ref)) ?? (await readPacked(mirror)).get(ref) ?? null
}

/** The refs of a mirror that start with this folder, such as `refs/kept/`, and their commits. */
export async function listRefs(mirror: string, folder: string): Promise<Map<string, string>> {
  const names = await readdir(join(mirror, folder), { recursive: true }).catch(() => [])
  const loose = new Map<string, string>()
  for (const ref of names.map((name) => folder + name)) {
    const sha = await readLoose(mirror, ref)
    if (sha !== null) loose.set(ref, sha)
  }
  // After the files: git deletes those once it has packed them.
  const packed = await readPacked(mirror)
  return new Map([...[...packed].filter(([ref]) => ref.startsWith(folder)), ...loose])
}

async function readLoose(mirror: string, ref: string): Promise<string | null> {
  const text = await readFile(join(mirror, ref), 'latin1').catch(() => '')
  return /^([0-9a-f]{40}|[0-9a-f]{64})\n$/.test(text) ? text.trimEnd() : null
}

async function readPacked(mirror: string): Promise<Map<string, string>> {
  const text = await readFile(join(mirror, 'packed-refs'), 'utf8').catch(() => '')
  return new Map(text.matchAll(/^([0-9a-f]{40,64}) (refs\/.+)$/gm).map(([, sha = '', ref = '']) => [ref, sha]))
}
