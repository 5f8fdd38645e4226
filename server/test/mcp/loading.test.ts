import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Loads a module in a process of its own, and prints which packages that takes that most services never need. */
const program = `
  const { registerHooks } = require('node:module')
  const loaded = new Set()
  registerHooks({
    resolve(name, context, next) {
      if (/^(@modelcontextprotocol\\/|zod|openid-client|oauth4webapi|jose|nodemailer)/.test(name)) loaded.add(name)
      return next(name, context)
    },
  })
  import(process.argv[1]).then(() => process.stdout.write(JSON.stringify([...loaded])))
`

function lazyPackagesOf(module: string): string[] {
  return JSON.parse(execFileSync(process.execPath, ['-e', program, `${root}${module}`], { encoding: 'utf8' }))
}

test('a service that no agent uses, and no person signs in to, never loads the SDK of the protocol and openid-client', () => {
  assert.deepEqual(lazyPackagesOf('server/src/service/serve.ts'), [])
  assert.ok(lazyPackagesOf('server/src/mcp/endpoint.ts').includes('@modelcontextprotocol/server'))
  assert.ok(lazyPackagesOf('server/src/sign-in/provider.ts').includes('openid-client'))
})
