import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestEnd } from '../../testing/cleanup.ts'

/** The path of a spool file in a folder that does not exist yet. Removed when the test ends. */
export async function createSpoolPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'promptledger-spool-'))
  onTestEnd(() => rm(folder, { recursive: true }))
  return join(folder, 'votes', 'spool.ndjson')
}
