import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { access, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))

test('the packages can be built from the files that .dockerignore leaves to the image', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'promptledger-image-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  for (const file of await filesOfContext()) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await cp(join(root, file), join(folder, file))
  }
  await linkPackages(folder)
  // As in the Dockerfile, without packing what is built.
  await run('npm', ['run', 'build'], { cwd: folder })
  const { buildPackage }: typeof import('../build.ts') = await import(join(folder, 'packaging/build.ts'))
  await buildPackage(pathToFileURL(`${folder}/package/`))
  for (const file of ['package/dist/main.js', 'package/dist/console/index.html', 'client/dist/index.js']) {
    await access(join(folder, file))
  }
})

/** The tracked files that match a pattern with an exclamation mark. All others are ignored. */
async function filesOfContext(): Promise<string[]> {
  const rules = (await readFile(join(root, '.dockerignore'), 'utf8')).split('\n').filter((line) => !/^(#|$)/.test(line))
  const [first, ...kept] = rules
  assert.equal(first, '*')
  const patterns = kept.map((rule) => {
    assert.match(rule, /^![\w./*-]+$/)
    return new RegExp(`^${rule.slice(1).replaceAll('.', '\\.').replaceAll('*', '[^/]*')}(/|$)`)
  })
  const { stdout } = await run('git', ['ls-files', '-z'], { cwd: root, maxBuffer: 10_000_000 })
  return stdout.split('\0').filter((file) => patterns.some((pattern) => pattern.test(file)))
}

/** The installed packages, but our own from this folder, so that nothing that is built in the checkout is found. */
async function linkPackages(folder: string): Promise<void> {
  const packages = join(folder, 'node_modules')
  await mkdir(join(packages, '@promptledger'), { recursive: true })
  for (const name of await readdir(join(root, 'node_modules'))) {
    if (name !== '@promptledger') await symlink(join(root, 'node_modules', name), join(packages, name))
  }
  await symlink(join(folder, 'client'), join(packages, '@promptledger', 'client'))
}
