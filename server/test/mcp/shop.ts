import assert from 'node:assert/strict'
import { before } from 'node:test'
import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { onTestEnd } from '../../../testing/cleanup.ts'
import type { Engine } from '../../../testing/engines.ts'
import { TestService } from '../../../testing/service.ts'
import { createShop } from '../../src/demo/shop.ts'
import { gitRuns } from '../../src/git/run.ts'

/** A year of changes and votes of the demo's shop, judged, and an agent that reads them. */
export class Shop {
  readonly service = new TestService()
  address = ''
  client!: Client

  async open(engine: Engine): Promise<void> {
    const { service } = this
    await service.open(engine)
    const { started } = gitRuns
    await createShop(service.syncContext, service.now)
    // What the demo takes until it is ready. Each of the 40 pull requests takes 6 or 7.
    assert.ok(gitRuns.started - started < 320, `git ran ${gitRuns.started - started} times`)
    const [organisation] = await service.store.organisations.list()
    assert.ok(organisation !== undefined)
    for (const { id } of await service.store.prompts.list(organisation.id)) service.judge.touch(organisation.id, id)
    await service.judge.round()
    this.address = await service.app.listen({ port: 0, host: '127.0.0.1' })
    this.client = await connectAgent(this.address, await service.key(organisation, 'reader'))
  }

  /** The parsed result of a tool. */
  call<T>(name: string, args: Record<string, unknown> = {}): Promise<T> {
    return callTool(this.client, name, args)
  }
}

export function useShop(engine: Engine): Shop {
  const shop = new Shop()
  before(() => shop.open(engine))
  return shop
}

/** The SDK's own client, as agents use it. Without a version of the protocol, it speaks that of 2025. */
export async function connectAgent(address: string, key: string, version: string | null = null): Promise<Client> {
  const mode = version === null ? 'legacy' : { pin: version }
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } })
  const headers = { authorization: `Bearer ${key}` }
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', address), { requestInit: { headers } }))
  onTestEnd(() => client.close())
  return client
}

export async function callTool<T>(client: Client, name: string, args: Record<string, unknown> = {}): Promise<T> {
  const result = (await client.callTool({ name, arguments: args })) as CallToolResult
  assert.ok(!result.isError, textOf(result))
  return JSON.parse(textOf(result))
}

/** What a tool says about a call that fails. */
export async function failedCall(
  client: Client,
  name: string,
  args: Record<string, unknown>,
): Promise<{ error: string; message: string; prompts?: { prompt: string; quoted_name: string }[] }> {
  const result = (await client.callTool({ name, arguments: args })) as CallToolResult
  assert.equal(result.isError, true, textOf(result))
  return JSON.parse(textOf(result))
}

export function textOf({ content }: CallToolResult): string {
  const [only, ...others] = content
  assert.equal(others.length, 0)
  assert.equal(only?.type, 'text')
  return (only as { text: string }).text
}
