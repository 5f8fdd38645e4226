import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { deflateSync, inflateSync } from 'node:zlib'

/** Git does it, with a process of its own. */
export class NotSimple extends Error {}

/** A file in a tree or in the index. */
export interface File {
  mode: number
  id: string
}

/** By path. */
export type Files = Map<string, File>

export interface Commit {
  tree: string
  parents: string[]
  /** `Name <address> seconds +0000` */
  author: string
  committer: string
  message: string
}

export const fileMode = 0o100644
export const folderMode = 0o40000

/** The objects and the index of one repository. */
export class GitObjects {
  readonly #folder: string
  readonly #format: string

  constructor(folder: string, format = 'sha1') {
    this.#folder = folder
    this.#format = format
  }

  #file(id: string): string {
    return join(this.#folder, 'objects', id.slice(0, 2), id.slice(2))
  }

  idOf(type: string, body: Buffer): string {
    return createHash(this.#format).update(`${type} ${body.length}\0`).update(body).digest('hex')
  }

  write(type: string, body: Buffer): string {
    const id = this.idOf(type, body)
    const file = this.#file(id)
    if (existsSync(file)) return id
    mkdirSync(dirname(file), { recursive: true })
    const bytes = Buffer.concat([Buffer.from(`${type} ${body.length}\0`), body])
    writeFileSync(file, deflateSync(bytes, { level: 1 }), { mode: 0o444 })
    return id
  }

  read(id: string): Buffer {
    if (!existsSync(this.#file(id))) throw new NotSimple('the object is in a pack')
    const bytes = inflateSync(readFileSync(this.#file(id)))
    return bytes.subarray(bytes.indexOf(0) + 1)
  }

  writeTree(files: Files): string {
    const folders = new Map<string, Files>()
    const entries: [name: string, mode: number, id: string][] = []
    for (const [path, { mode, id }] of files) {
      const [name = '', ...rest] = path.split('/')
      if (rest.length === 0) entries.push([name, mode, id])
      else folders.set(name, (folders.get(name) ?? new Map()).set(rest.join('/'), { mode, id }))
    }
    for (const [name, inside] of folders) entries.push([name, folderMode, this.writeTree(inside)])
    const sorted = entries
      .map(([name, mode, id]) => ({
        // Git sorts a folder as if its name ended with a slash.
        key: Buffer.from(mode === folderMode ? `${name}/` : name),
        bytes: Buffer.concat([Buffer.from(`${mode.toString(8)} ${name}\0`), Buffer.from(id, 'hex')]),
      }))
      .sort((a, b) => a.key.compare(b.key))
    return this.write('tree', Buffer.concat(sorted.map(({ bytes }) => bytes)))
  }

  readTree(id: string, prefix = '', files: Files = new Map()): Files {
    const body = this.read(id)
    for (let at = 0; at < body.length; ) {
      const end = body.indexOf(0, at)
      const [mode = '', name = ''] = body.toString('utf8', at, end).split(/ (.*)/s)
      at = end + 1 + id.length / 2
      const entry = { mode: Number.parseInt(mode, 8), id: body.toString('hex', end + 1, at) }
      if (entry.mode === folderMode) this.readTree(entry.id, `${prefix}${name}/`, files)
      else files.set(prefix + name, entry)
    }
    return files
  }

  writeCommit({ tree, parents, author, committer, message }: Commit): string {
    const lines = [`tree ${tree}`, ...parents.map((id) => `parent ${id}`), `author ${author}`, `committer ${committer}`]
    return this.write('commit', Buffer.from(`${lines.join('\n')}\n\n${message}`))
  }

  readCommit(id: string): Commit {
    const [, head = '', message = ''] = /^(.*?)\n\n(.*)$/s.exec(this.read(id).toString()) ?? []
    const values = (name: string) =>
      [...head.matchAll(new RegExp(`^${name} (.*)$`, 'gm'))].map(([, value]) => value ?? '')
    const [[tree = ''], [author = ''], [committer = '']] = [values('tree'), values('author'), values('committer')]
    return { tree, parents: values('parent'), author, committer, message }
  }

  /** The files of the index, which have to be in no conflict. */
  readIndex(): Files {
    const files: Files = new Map()
    const file = join(this.#folder, 'index')
    if (!existsSync(file)) return files
    const bytes = readFileSync(file)
    if (bytes.readUInt32BE(4) !== 2) throw new NotSimple('the index has another version')
    const idLength = this.#format === 'sha1' ? 20 : 32
    let at = 12
    for (let left = bytes.readUInt32BE(8); left > 0; left--) {
      const flags = at + 40 + idLength
      const end = bytes.indexOf(0, flags + 2)
      if ((bytes.readUInt16BE(flags) & 0x3000) !== 0) throw new NotSimple('the index has conflicts')
      files.set(bytes.toString('utf8', flags + 2, end), {
        mode: bytes.readUInt32BE(at + 24),
        id: bytes.toString('hex', at + 40, flags),
      })
      // Filled with 1 to 8 zeros to a multiple of 8 bytes.
      at += Math.floor((end - at + 8) / 8) * 8
    }
    return files
  }

  /** Without the times of the files, as after `git read-tree`: git compares their content. */
  writeIndex(files: Files): void {
    const header = Buffer.from('DIRC\0\0\0\u0002\0\0\0\0')
    header.writeUInt32BE(files.size, 8)
    const entries = [...files].map(([path, { mode, id }]) => {
      const name = Buffer.from(path)
      const flags = 40 + id.length / 2
      const entry = Buffer.alloc(Math.floor((flags + 2 + name.length + 8) / 8) * 8)
      entry.writeUInt32BE(mode, 24)
      entry.write(id, 40, 'hex')
      entry.writeUInt16BE(Math.min(name.length, 0xfff), flags)
      name.copy(entry, flags + 2)
      return { name, entry }
    })
    const sorted = entries.sort((a, b) => a.name.compare(b.name)).map(({ entry }) => entry)
    const bytes = Buffer.concat([header, ...sorted])
    const checksum = createHash(this.#format).update(bytes).digest()
    writeFileSync(join(this.#folder, 'index'), Buffer.concat([bytes, checksum]))
  }
}
