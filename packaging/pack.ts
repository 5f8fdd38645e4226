import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { buildPackage } from './build.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../', import.meta.url))

/** The paths of the tarballs that npm would publish. */
export interface Tarballs {
  promptledger: string
  client: string
}

/** Builds and packs both packages. The console has to be built: `npm ci` and `npm run build` do that. */
export async function packAll(folder: string): Promise<Tarballs> {
  return { promptledger: await packService(folder), client: await pack(join(root, 'client'), folder) }
}

/** Builds and packs the service alone. */
async function packService(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true })
  const contents = join(folder, 'promptledger')
  await buildPackage(pathToFileURL(`${contents}/`))
  return pack(contents, folder)
}

async function pack(contents: string, folder: string): Promise<string> {
  const { stdout } = await run('npm', ['pack', contents, '--pack-destination', folder, '--json'], { cwd: root })
  // npm prints what the build of the client prints before the JSON.
  const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf('[')))
  return join(folder, filename)
}
