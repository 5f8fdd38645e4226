import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { buildExecutables } from './executable.ts'
import type { Tarballs } from './pack.ts'
import { buildWheel } from './wheel.ts'

const exec = promisify(execFile)

export const checksums = 'SHA256SUMS'

interface Source {
  /** A git repository. */
  repository: string
  commit: string
}

interface Options {
  /** The base of the image, such as `node:24-slim@sha256:…`. */
  nodeImage: string
  /** An interpreter with `build` and `hatchling`. */
  python: string
}

/** Writes the files of a release to `folder`, from a new clone in `clone` that holds what is committed and nothing else. */
export async function buildRelease(
  source: Source,
  clone: string,
  folder: string,
  { nodeImage, python }: Options,
): Promise<Tarballs> {
  await rm(folder, { recursive: true, force: true })
  const tarballs = await packCommit(source, clone, folder)
  // The wheel and the image's files carry the time of the commit. npm gives all files of a package the same one.
  process.env.SOURCE_DATE_EPOCH = (await run('git', ['log', '-1', '--format=%ct'], clone)).trim()
  const name = basename(tarballs.promptledger, '.tgz')
  await buildWheel(python, join(clone, 'clients/python'), folder)
  await copyFile(join(folder, 'promptledger/sbom.json'), join(folder, `${name}.cdx.json`))
  await buildExecutables(join(folder, 'promptledger'), name, folder, join(clone, 'dist/executable'))
  await rm(join(folder, 'promptledger'), { recursive: true })
  await writeImageContext(clone, tarballs.promptledger, join(folder, `${name}-image.tar`), nodeImage)
  await writeChecksums(folder)
  return tarballs
}

/** Clones the commit, and builds and packs its npm packages with its own tools. */
export async function packCommit({ repository, commit }: Source, clone: string, folder: string): Promise<Tarballs> {
  await mkdir(clone, { recursive: true })
  await run('git', ['clone', '--quiet', '--no-checkout', repository, '.'], clone)
  await run('git', ['checkout', '--quiet', '--detach', commit], clone)
  await run('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], clone)
  const printed = await run('npm', ['run', '--silent', 'package', '--', folder], clone)
  const [promptledger = '', client = ''] = printed.trim().split('\n').slice(-2)
  return { promptledger, client }
}

/** What `docker build -` reads: the package and the last stage of the Dockerfile, which installs it. */
async function writeImageContext(clone: string, promptledger: string, file: string, nodeImage: string): Promise<void> {
  const context = join(clone, 'dist/image')
  await mkdir(context, { recursive: true })
  await copyFile(promptledger, join(context, basename(promptledger)))
  await writeFile(
    join(context, 'Dockerfile'),
    releasedImage(await readFile(join(clone, 'Dockerfile'), 'utf8'), nodeImage),
  )
  const same = ['--sort=name', `--mtime=@${process.env.SOURCE_DATE_EPOCH}`, '--owner=0', '--group=0', '--numeric-owner']
  await run('tar', [...same, '--create', '--file', file, 'Dockerfile', basename(promptledger)], context)
}

function releasedImage(dockerfile: string, nodeImage: string): string {
  const stage = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))
  return `ARG NODE_IMAGE=${nodeImage}\n${stage.replace('from=package,source=/packages', 'source=.')}`
}

async function writeChecksums(folder: string): Promise<void> {
  const lines = (await readdir(folder)).sort().map(async (name) => {
    const hash = createHash('sha256').update(await readFile(join(folder, name)))
    return `${hash.digest('hex')}  ${name}\n`
  })
  await writeFile(join(folder, checksums), (await Promise.all(lines)).join(''))
}

async function run(command: string, args: string[], cwd: string): Promise<string> {
  const { stdout } = await exec(command, args, { cwd, maxBuffer: 64 * 1024 * 1024 })
  return stdout
}
