import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildPackage } from '../packaging/build.ts'
import * as setup from './setup.ts'

let folder = ''

/** Prepares a run of the whole suite: commands and services that it starts run from the bundle, in half the processor time. */
export async function globalSetup(): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), 'promptledger-bundle-'))
  await buildPackage(pathToFileURL(`${folder}/`))
  process.env.TEST_MAIN_SCRIPT = join(folder, 'dist', 'main.js')
  await setup.globalSetup()
}

export async function globalTeardown(): Promise<void> {
  await setup.globalTeardown()
  await rm(folder, { recursive: true })
}
