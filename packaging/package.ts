import { fileURLToPath } from 'node:url'
import { packAll } from './pack.ts'

// `npm run package [folder]`: the tarballs that a release publishes and the container image is made of.
const folder = process.argv[2] ?? fileURLToPath(new URL('../dist/release/', import.meta.url))
for (const tarball of Object.values(await packAll(folder))) process.stdout.write(`${tarball}\n`)
