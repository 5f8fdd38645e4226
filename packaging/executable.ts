import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const exec = promisify(execFile)
const entry = fileURLToPath(new URL('executable-main.cjs', import.meta.url))
// By which Node finds what was added to it.
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/** Writes one executable file with Node and the contents of the package, for each architecture of Linux. Works in `folder`. */
export async function buildExecutables(contents: string, name: string, output: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const files = JSON.stringify(await filesOf(contents))
  const assets = { files: join(folder, 'files.json'), id: join(folder, 'id') }
  await writeFile(assets.files, files)
  await writeFile(assets.id, createHash('sha256').update(files).digest('hex').slice(0, 16))
  const config = { main: entry, output: join(folder, 'blob'), disableExperimentalSEAWarning: true, assets }
  await writeFile(join(folder, 'sea.json'), JSON.stringify(config))
  await exec(process.execPath, ['--experimental-sea-config', join(folder, 'sea.json')])
  for (const arch of ['x64', 'arm64']) {
    const executable = join(output, `${name}-linux-${arch}`)
    await copyFile(await fetchNode(arch, folder), executable)
    await exec('npx', ['postject', executable, 'NODE_SEA_BLOB', config.output, '--sentinel-fuse', fuse])
  }
}

async function filesOf(contents: string): Promise<Record<string, string>> {
  const entries = await readdir(contents, { recursive: true, withFileTypes: true })
  const paths = entries.filter((each) => each.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const files = paths.sort().map(async (path) => [relative(contents, path), await readFile(path, 'base64')])
  // CommonJS from a file may import, which the entry may not.
  const start = Buffer.from("void import('./worker.js')\n").toString('base64')
  return { ...Object.fromEntries(await Promise.all(files)), 'dist/worker-start.cjs': start }
}

/** Node in the version of this process, from npm. */
async function fetchNode(arch: string, folder: string): Promise<string> {
  const own = join(folder, arch)
  await rm(own, { recursive: true, force: true })
  await mkdir(own)
  const name = `node-linux-${arch}@${process.versions.node}`
  const { stdout } = await exec('npm', ['pack', name, '--prefer-offline', '--silent', '--pack-destination', own])
  await exec('tar', ['-xzf', join(own, stdout.trim()), '-C', own, 'package/bin/node'])
  return join(own, 'package/bin/node')
}
