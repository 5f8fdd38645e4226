import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { minify } from 'rolldown/utils'

// Pages without a build step load this file as it is. The argument is the folder of the compiled client.
const file = join(process.argv[2] ?? '', 'thumbs.js')
const { code, errors } = await minify('thumbs.js', await readFile(file, 'utf8'), { module: true })
if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'))
await writeFile(file, `${code}\n`)
