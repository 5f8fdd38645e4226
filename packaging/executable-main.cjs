// The entry of the executable. Node can import only files, so the first start writes those of the package to the user's cache.
const { randomUUID } = require('node:crypto')
const { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { homedir } = require('node:os')
const { dirname, join } = require('node:path')
const { getAsset } = require('node:sea')
const { setFlagsFromString } = require('node:v8')

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'promptledger')
const folder = join(cache, getAsset('id', 'utf8'))
const [worker, start] = ['worker.js', 'bin.js'].map((name) => join(folder, 'dist', name))

try {
  if (!existsSync(folder)) writeFiles()
  // What others can write to, they can run as this user.
  if (statSync(folder).uid !== process.getuid()) throw new Error(`${folder} belongs to another user`)
} catch (error) {
  process.stderr.write(
    `promptledger: cannot unpack its files: ${error.message}. Set XDG_CACHE_HOME to a folder of this user.\n`,
  )
  process.exit(1)
}
const load = createRequire(start)
// As the service starts it: with flags of node, which an executable does not read.
if (process.argv.at(-1) === worker) {
  for (const flag of process.argv.slice(2, -1)) setFlagsFromString(flag)
  load('./worker-start.cjs')
} else load('./bin.js')

/** To a folder of its own first: another process may start at the same moment, and a start may be interrupted. */
function writeFiles() {
  const part = join(cache, randomUUID())
  for (const [name, content] of Object.entries(JSON.parse(getAsset('files', 'utf8')))) {
    const file = join(part, name)
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(file, Buffer.from(content, 'base64'))
  }
  try {
    renameSync(part, folder)
  } catch (error) {
    rmSync(part, { recursive: true })
    if (!existsSync(folder)) throw error
  }
}
