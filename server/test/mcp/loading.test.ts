import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Loads a module in a process of its own, and prints which packages of the protocol that takes. */
const program = `
  const { registerHooks } = require('node:module')
  const loaded = new Set()
  registerHooks({
    resolve(name, context, next) {
      if (/^(@modelcontextprotocol\\/|zod)/.test(name)) loaded.add(name)
      return next(name, context)
    },
  })
  import(process.argv[1]).then(() => process.stdout.write(JSON.stringify([...loaded])))
`

function protocolPackagesOf(module: string): string[] {
  return JSON.parse(execFileSync(process.execPath, ['-e', program, `${root}${module}`], { encoding: 'utf8' }))
}

test('a service that no agent uses never loads the SDK of the protocol', () => {
  assert.deepEqual(protocolPackagesOf('server/src/service/serve.ts'), [])
  assert.ok(protocolPackagesOf('server/src/mcp/endpoint.ts').includes('@modelcontextprotocol/server'))
})
