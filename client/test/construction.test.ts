import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { build } from 'rolldown'
import { onTestEnd } from '../../testing/cleanup.ts'
import { sqlite } from '../../testing/engines.ts'
import { Promptledger, UnauthorizedError } from '../src/index.ts'
import { useLiveService } from './live-service.ts'

/** Sets environment variables until the test ends; undefined unsets one. */
function setEnvironment(variables: { PROMPTLEDGER_KEY?: string; PROMPTLEDGER_URL?: string }): void {
  const before = { ...process.env }
  onTestEnd(() => {
    process.env = before
  })
  process.env = { ...before, PROMPTLEDGER_KEY: undefined, PROMPTLEDGER_URL: undefined, ...variables }
}

describe('Creating a client', () => {
  const service = useLiveService(sqlite)
  const { proxy } = service

  test('without options, the key and the URL come from the environment', async () => {
    const tenant = await service.tenant()
    proxy.reset()
    setEnvironment({ PROMPTLEDGER_KEY: tenant.key, PROMPTLEDGER_URL: proxy.address })
    await new Promptledger().usage.get()
    assert.equal(proxy.requests[0]?.headers.authorization, `Bearer ${tenant.key}`)
  })

  test('options win over the environment', async () => {
    const tenant = await service.tenant()
    proxy.reset()
    setEnvironment({ PROMPTLEDGER_KEY: 'plk_none', PROMPTLEDGER_URL: 'https://elsewhere.example' })
    await new Promptledger({ apiKey: tenant.key, baseUrl: proxy.address }).usage.get()
    assert.equal(proxy.requests.length, 1)
  })

  test('without a key, creating a client fails and says what to set', () => {
    setEnvironment({ PROMPTLEDGER_KEY: '', PROMPTLEDGER_URL: 'https://ledger.example.com' })
    const message = 'No API key: set PROMPTLEDGER_KEY to one, or pass apiKey'
    assert.throws(() => new Promptledger(), { name: 'TypeError', message })
    setEnvironment({ PROMPTLEDGER_KEY: 'plk_x', PROMPTLEDGER_URL: 'https://ledger.example.com' })
    // A key that the caller meant to pass is never replaced by another one.
    assert.throws(() => new Promptledger({ apiKey: '' }), { name: 'TypeError', message })
  })

  test('without a URL, creating a client outside a browser fails and says what to set', () => {
    setEnvironment({ PROMPTLEDGER_KEY: 'plk_x', PROMPTLEDGER_URL: '' })
    const message = 'No baseUrl: set PROMPTLEDGER_URL to the URL of your Promptledger, or pass baseUrl'
    assert.throws(() => new Promptledger(), { name: 'TypeError', message })
    assert.throws(() => new Promptledger({ baseUrl: 'ledger.example.com' }), TypeError)
  })

  test('a client that uses the session sends no key, not even the one in the environment', async () => {
    const tenant = await service.tenant()
    proxy.reset()
    setEnvironment({ PROMPTLEDGER_KEY: tenant.key, PROMPTLEDGER_URL: proxy.address })
    const ledger = new Promptledger({ useSession: true })
    await assert.rejects(ledger.usage.get(), UnauthorizedError)
    assert.equal(proxy.requests[0]?.headers.authorization, undefined)
    assert.throws(() => new Promptledger({ useSession: true, apiKey: tenant.key }), /either apiKey or useSession/)
    // Only the literal true selects it: 'false' from a configuration file must not.
    setEnvironment({ PROMPTLEDGER_URL: proxy.address })
    assert.throws(() => new Promptledger({ useSession: 'false' as never }), /No API key/)
  })

  test('in a browser there is no environment, and the page is the service unless the caller names another', async () => {
    const input = fileURLToPath(new URL('../src/index.ts', import.meta.url))
    const { output } = await build({ input, write: false, output: { format: 'iife', name: 'client' } })
    const urls: string[] = []
    const fetch = async (url: string) => {
      urls.push(url)
      return new Response('{"data":{}}')
    }
    const browser = { fetch, URL, URLSearchParams, Headers, AbortController, setTimeout, clearTimeout }
    const page = createContext({ ...browser, location: { href: 'https://ledger.example.com/prompts?q=1' } })
    runInContext(output[0].code, page)
    await runInContext('new client.Promptledger({ useSession: true }).usage.get()', page)
    await runInContext("new client.Promptledger({ useSession: true, baseUrl: '/ledger' }).usage.get()", page)
    assert.deepEqual(urls, [
      'https://ledger.example.com/api/v1/usage',
      'https://ledger.example.com/ledger/api/v1/usage',
    ])
    assert.throws(() => runInContext('new client.Promptledger()', page), /No API key/)
    // Deno without permission to read the environment.
    const process = {
      get env() {
        throw new Error('NotCapable')
      },
    }
    const deno = createContext({ ...browser, process })
    runInContext(output[0].code, deno)
    assert.throws(() => runInContext('new client.Promptledger()', deno), /No baseUrl/)
  })
})
