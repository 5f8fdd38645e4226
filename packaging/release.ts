import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { firstVerdict } from './first-verdict.ts'
import { packAll } from './pack.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../', import.meta.url))
const folder = join(root, 'dist/release')
const manifests = ['package.json', 'server/package.json', 'client/package.json', 'console/package.json']

const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean', default: false } } })
const isDryRun = values['dry-run']

const version = await commonVersion()
if (!isDryRun) await requireTag(version)
await rm(folder, { recursive: true, force: true })
await run('npm', ['run', 'build'], { cwd: root })
const tarballs = await packAll(folder)
await tryInEmptyProject()
for (const tarball of [tarballs.client, tarballs.promptledger]) await publish(tarball)
say(`SBOM (CycloneDX): ${join('dist/release/promptledger', 'sbom.json')}`)

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
  const { stdout: changes } = await run('git', ['status', '--porcelain'], { cwd: root })
  if (changes !== '') throw new Error('There are uncommitted changes. Commit them, or use --dry-run')
  const { stdout: tags } = await run('git', ['tag', '--points-at', 'HEAD'], { cwd: root })
  if (!tags.split('\n').includes(`v${version}`)) {
    throw new Error(`HEAD has no tag v${version}. Set the version, commit, and run: git tag v${version}`)
  }
}

async function tryInEmptyProject(): Promise<void> {
  const project = await mkdtemp(join(tmpdir(), 'promptledger-release-'))
  try {
    const start = performance.now()
    const verdict = await firstVerdict(tarballs, project)
    say(`Tried in an empty project: "${verdict}" after ${((performance.now() - start) / 1_000).toFixed(1)} s`)
  } finally {
    await rm(project, { recursive: true, force: true })
  }
}

async function publish(tarball: string): Promise<void> {
  const args = ['publish', tarball, '--access', 'public', ...(isDryRun ? ['--dry-run'] : [])]
  // npm describes the contents on stderr.
  const { stderr } = await run('npm', args, { cwd: root })
  const lines = stderr
    .split('\n')
    .filter((line) => /notice (name|version|filename|package size|unpacked size|total files|shasum):/.test(line))
  say(`${isDryRun ? 'Would publish' : 'Published'} ${basename(tarball)}\n${lines.join('\n')}`)
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
