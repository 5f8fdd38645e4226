import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { tarballs } from '../../testing/tarballs.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))
const modules = fileURLToPath(new URL('../../node_modules', import.meta.url))

export const tsc = join(modules, 'typescript/bin/tsc')

/** An empty project with the package as it is published. */
export interface PackedClient {
  project: string
  /** The folder of the package in the project. */
  installed: string
}

/** Packs the client as `npm run build` and `npm pack` do, in a folder of its own: other tests use that of the checkout meanwhile. */
async function packClient(published: string): Promise<string> {
  const dist = join(published, 'dist')
  await run(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', dist])
  await run(process.execPath, [join(root, '../scripts/minify-thumbs.ts'), dist])
  for (const file of ['package.json', 'README.md']) await cp(join(root, file), join(published, file))
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json'], { cwd: published })
  const [{ filename }] = JSON.parse(stdout)
  return join(published, filename)
}

/** Installs the packed client into a new project, with links to other packages of this repository. */
async function installClient(folder: string, ...others: string[]): Promise<PackedClient> {
  const project = join(folder, 'project')
  const installed = join(project, 'node_modules/@promptledger/client')
  await mkdir(installed, { recursive: true })
  const tarball = tarballs?.client ?? (await packClient(join(folder, 'published')))
  await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'])
  await writeFile(join(project, 'package.json'), '{"type":"module"}')
  for (const name of others) await symlink(join(modules, name), join(project, 'node_modules', name))
  return { project, installed }
}

/** A project for the tests of the surrounding suite. */
export function usePackedClient(...others: string[]): PackedClient {
  const client = { project: '', installed: '' }
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'promptledger-package-'))
    Object.assign(client, await installClient(folder, ...others))
  })
  after(() => rm(folder, { recursive: true }))
  return client
}
