import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { lazy } from '../lazy.ts'
import type { Encoding } from './accepted-encoding.ts'

/** A file of the built console. Read and compressed on first use, then cached. */
export interface ConsoleFile {
  type: string
  compressible: boolean
  etag(): Promise<string>
  bytes(encoding: Encoding | null): Promise<Buffer>
}

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.woff2': 'font/woff2',
}

const alreadyCompressed = ['.ico', '.png', '.woff2']

// Higher levels take ten times as long, while a user waits, to save a few percent.
const brotliQuality = 9

/** Looks up files of a folder by name, such as `assets/index-1a2b3c.js`. */
export function createFileLookup(folder: URL): (name: string) => Promise<ConsoleFile | null> {
  let files: Map<string, ConsoleFile> | null = null
  return async (name) => {
    files ??= await listFiles(fileURLToPath(folder))
    return files?.get(name) ?? null
  }
}

/** Null if the console is not built yet. */
async function listFiles(folder: string): Promise<Map<string, ConsoleFile> | null> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const files = new Map(paths.map((path) => [relative(folder, path).replaceAll(sep, '/'), fileAt(path)]))
  return files.has('index.html') ? files : null
}

function fileAt(path: string): ConsoleFile {
  const extension = extname(path)
  const plain = lazy(() => readFile(path))
  const encoded = {
    br: lazy(async () => promisify(brotliCompress)(await plain(), brotliOptions)),
    gzip: lazy(async () => promisify(gzip)(await plain(), { level: constants.Z_BEST_COMPRESSION })),
  }
  return {
    type: types[extension] ?? 'application/octet-stream',
    compressible: extension in types && !alreadyCompressed.includes(extension),
    // Weak, because all encodings share it.
    etag: lazy(
      async () =>
        `W/"${createHash('sha256')
          .update(await plain())
          .digest('base64url')}"`,
    ),
    bytes: (encoding) => (encoding === null ? plain() : encoded[encoding]()),
  }
}

const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }
