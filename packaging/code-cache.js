const {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} = require('node:fs')
const { createRequire, enableCompileCache, getCompileCacheDir, Module } = require('node:module')
const { join } = require('node:path')
const { Script } = require('node:vm')
const { crc32 } = require('node:zlib')

const name = readdirSync(__dirname).find((each) => each.startsWith('shared-'))
const wrapper = ['(function (exports, require, module, __filename, __dirname) {', '\n})']
const checksumBytes = 4

/**
 * Loads the file with nearly all code of the service, and with it the functions that an earlier start compiled. Node's compile cache keeps
 * a file as it is right after loading: all functions that run later are compiled one by one in every start, which is a fifth of it.
 */
exports.loadShared = function loadShared() {
  enableCompileCache()
  const folder = getCompileCacheDir()
  // Then it is loaded as every other file.
  if (folder === undefined) return
  const filename = join(__dirname, name)
  // The name has a hash of the contents. The time tells that somebody has edited the file since.
  const kept = join(folder, `${name}-${statSync(filename).mtimeMs}`)
  const script = new Script(wrapper.join(readFileSync(filename, 'latin1')), {
    filename,
    columnOffset: -wrapper[0].length,
    cachedData: read(kept),
  })
  const shared = new Module(filename)
  shared.filename = filename
  require.cache[filename] = shared
  script.runInThisContext().call(shared.exports, shared.exports, createRequire(filename), shared, filename, __dirname)
  shared.loaded = true
  if (script.cachedDataRejected !== false) {
    globalThis[Symbol.for('promptledger.keepCode')] = () => write(kept, script.createCachedData())
  }
}

/** Only what this user wrote, who could also change the code itself: the folder may be in /tmp, where others can create files. */
function read(path) {
  let file
  try {
    file = openSync(path)
    const { uid, mode } = fstatSync(file)
    // Windows has neither.
    if (process.getuid !== undefined && (uid !== process.getuid() || (mode & 0o022) !== 0)) return undefined
    const bytes = readFileSync(file)
    const data = bytes.subarray(checksumBytes)
    return bytes.length > checksumBytes && bytes.readUInt32LE() === crc32(data) ? data : undefined
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** To a file of its own first: others may start at the same moment. */
function write(path, data) {
  const part = `${path}-${process.pid}`
  const checksum = Buffer.alloc(checksumBytes)
  checksum.writeUInt32LE(crc32(data))
  try {
    writeFileSync(part, Buffer.concat([checksum, data]), { mode: 0o600, flag: 'wx' })
    renameSync(part, path)
  } catch {
    // The next start takes as long as this one.
  }
}
