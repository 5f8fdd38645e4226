import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { packAll } from './pack.ts'

const usage = `Writes the tarballs that a release publishes and the container image is made of.

npm run package                 into dist/release
npm run package -- <folder>     into this folder
`

const { values, positionals } = parseArgs({ options: { help: { type: 'boolean' } }, allowPositionals: true })
const folder = positionals[0] ?? fileURLToPath(new URL('../dist/release/', import.meta.url))
if (values.help) process.stdout.write(usage)
else for (const tarball of Object.values(await packAll(folder))) process.stdout.write(`${tarball}\n`)
