import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packAll } from '../packaging/pack.ts'
import * as setup from './setup.ts'

let folder = ''

/**
 * Prepares a run of the whole suite. Commands and services that it starts run from the bundle, in half the processor time, and
 * tests of the packages install what is packed here once.
 */
export async function globalSetup(): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), 'promptledger-bundle-'))
  const [tarballs] = await Promise.all([packAll(folder), setup.globalSetup()])
  process.env.TEST_TARBALLS = JSON.stringify(tarballs)
  process.env.TEST_MAIN_SCRIPT = join(folder, 'promptledger/dist/main.js')
}

export async function globalTeardown(): Promise<void> {
  await setup.globalTeardown()
  await rm(folder, { recursive: true })
}
