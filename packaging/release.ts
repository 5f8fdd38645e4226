import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { firstVerdict, start } from './first-verdict.ts'
import type { Tarballs } from './pack.ts'
import { buildRelease, checksums } from './release-files.ts'

const usage = `Writes the files of a release to dist/release, from a clone of HEAD: docs/releases.md says what they are and how to verify them.

npm run release
npm run release -- --check                             build a second time elsewhere, and compare every byte
npm run release -- --node-image node:24-slim@sha256:…  pin the base of the image
npm run release -- --sign ~/.ssh/release               sign the checksums with this ssh key; needs --node-image
npm run release -- --publish                           publish the npm packages; needs the tag of the version

PYTHON is an interpreter with the packages build and hatchling, by default python3.
`

const exec = promisify(execFile)
const root = fileURLToPath(new URL('../', import.meta.url))
const folder = join(root, 'dist/release')
const manifests = ['package.json', 'server/package.json', 'client/package.json', 'console/package.json']
const signers = join(root, 'packaging/allowed-signers')

const { values: options } = parseArgs({
  options: {
    help: { type: 'boolean' },
    check: { type: 'boolean' },
    'node-image': { type: 'string', default: 'node:24-slim' },
    sign: { type: 'string' },
    publish: { type: 'boolean' },
  },
})
if (options.help) say(usage)
else await release()

async function release(): Promise<void> {
  const version = await commonVersion()
  const isPinned = /@sha256:[0-9a-f]{64}$/.test(options['node-image'])
  if (options.sign !== undefined && !isPinned) {
    throw new Error('What is signed has an image whose base is pinned. Add: --node-image node:24-slim@sha256:<digest>')
  }
  if (options.publish) await requireTag(version)
  // Modes of files are part of the packages.
  process.umask(0o022)
  const tarballs = await build(folder)
  if (options.check) await buildAgain()
  await tryInEmptyProject(tarballs)
  await tryExecutable(tarballs)
  if (options.sign !== undefined) await sign(options.sign)
  say((await readFile(join(folder, checksums), 'utf8')).trimEnd())
  if (!isPinned) say('The base of the image is not pinned: use --node-image.')
  if (options.publish) for (const tarball of [tarballs.client, tarballs.promptledger]) await publish(tarball)
}

/** The packages are released together. */
async function commonVersion(): Promise<string> {
  const versions = await Promise.all(
    manifests.map(async (path) => JSON.parse(await readFile(join(root, path), 'utf8')).version as string),
  )
  const [version = ''] = versions
  if (versions.some((other) => other !== version)) {
    throw new Error(`The versions differ: ${manifests.map((path, i) => `${path} ${versions[i]}`).join(', ')}`)
  }
  return version
}

/** What is published must be what the tag names. */
async function requireTag(version: string): Promise<void> {
  const tags = await run('git', ['tag', '--points-at', 'HEAD'])
  if (!tags.split('\n').includes(`v${version}`)) {
    throw new Error(`HEAD has no tag v${version}. Set the version, commit, and run: git tag v${version}`)
  }
}

function build(into: string): Promise<Tarballs> {
  return inNewFolder(async (clone) => {
    const source = { repository: root, commit: (await run('git', ['rev-parse', 'HEAD'])).trim() }
    const settings = { nodeImage: options['node-image'], python: process.env.PYTHON ?? 'python3' }
    return buildRelease(source, join(clone, 'promptledger'), into, settings)
  })
}

async function buildAgain(): Promise<void> {
  await inNewFolder(async (other) => {
    process.env.TZ = 'Pacific/Auckland'
    const again = join(other, 'release')
    await build(again)
    const [first, second] = await Promise.all([folder, again].map((place) => readFile(join(place, checksums), 'utf8')))
    if (first !== second) throw new Error(`Two builds differ:\n${first}\n${second}`)
    say('Built twice, in two folders: every file is the same, byte for byte.')
  })
}

async function tryInEmptyProject(tarballs: Tarballs): Promise<void> {
  await inNewFolder(async (project) => {
    const startedAt = performance.now()
    const verdict = await firstVerdict(tarballs, project)
    say(`Tried in an empty project: "${verdict}" after ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`)
  })
}

/** Without Node on the PATH. The first start unpacks. */
async function tryExecutable({ promptledger }: Tarballs): Promise<void> {
  const executable = promptledger.replace(/\.tgz$/, `-linux-${process.arch}`)
  await inNewFolder(async (home) => {
    for (const name of ['first', 'second']) {
      await inNewFolder(async (project) => {
        const startedAt = performance.now()
        const service = await start(project, executable, [], { HOME: home, PATH: '/usr/bin:/bin' })
        say(`Executable, ${name} start with a new database: ${((performance.now() - startedAt) / 1_000).toFixed(2)} s`)
        await service.stop()
      })
    }
  })
}

/** Verifies the signature as users do, with the keys that the repository lists. */
async function sign(key: string): Promise<void> {
  const file = join(folder, checksums)
  await rm(`${file}.sig`, { force: true })
  await run('ssh-keygen', ['-Y', 'sign', '-n', 'promptledger', '-f', key, file])
  const verify = 'ssh-keygen -Y verify -n promptledger -I release -f "$0" -s "$1.sig" < "$1"'
  await run('sh', ['-c', verify, signers, file]).catch(async (error) => {
    const publicKey = (await readFile(`${key.replace(/\.pub$/, '')}.pub`, 'utf8')).trim()
    throw new Error(`packaging/allowed-signers does not list this key. Add and commit: release ${publicKey}`, {
      cause: error,
    })
  })
}

async function publish(tarball: string): Promise<void> {
  // npm proves where a package was built if its workflow has an identity: GitHub Actions with `id-token: write`, or GitLab.
  const hasIdentity = 'ACTIONS_ID_TOKEN_REQUEST_URL' in process.env || 'SIGSTORE_ID_TOKEN' in process.env
  await run('npm', ['publish', tarball, '--access', 'public', ...(hasIdentity ? ['--provenance'] : [])])
  say(`Published ${basename(tarball)}${hasIdentity ? ', with provenance' : ''}`)
}

async function run(command: string, args: string[]): Promise<string> {
  return (await exec(command, args, { cwd: root })).stdout
}

async function inNewFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const created = await mkdtemp(join(tmpdir(), 'promptledger-release-'))
  try {
    return await work(created)
  } finally {
    await rm(created, { recursive: true, force: true })
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
