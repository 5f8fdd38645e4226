import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { GitRepository } from '../../../testing/git-repository.ts'
import type { Remote } from '../../src/git/remote-access.ts'

export const token = 'ghp_SECRETTOKEN0123456789'
export const megabyte = 1024 * 1024

/** Runs the work with these variables in the environment of the process, from which git inherits its own. */
export async function withEnvironment<T>(env: Record<string, string>, work: () => Promise<T>): Promise<T> {
  const before = { ...process.env }
  Object.assign(process.env, env)
  try {
    return await work()
  } finally {
    for (const name of Object.keys(env)) delete process.env[name]
    Object.assign(process.env, before)
  }
}

export function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'promptledger-git-environment-'))
  onTestEnd(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export function createRemote(files: Record<string, string | Buffer>): GitRepository {
  const repository = new GitRepository()
  repository.commit('Start', files)
  repository.push()
  return repository
}

/** Creates a program and a PATH that finds it before any other of the same name. */
export function createProgram(name: string, text: string): { folder: string; PATH: string } {
  const folder = createFolder()
  writeFileSync(join(folder, name), text, { mode: 0o755 })
  // Otherwise a package.json of the temporary folder decides whether Node takes the program for a module.
  writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }')
  return { folder, PATH: `${folder}:${process.env.PATH}` }
}

export function remoteAt(url: string): Remote {
  return {
    url,
    credentials: null,
    deployKey: null,
    allowMachineKeys: true,
    allowLocal: false,
    allowHttp: false,
    allowRedirects: false,
    allowPrivate: true,
    hidesNetwork: false,
  }
}
