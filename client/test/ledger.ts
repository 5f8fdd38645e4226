import type { AddressInfo } from 'node:net'
import { after, before } from 'node:test'
import type { Engine } from '../../testing/engines.ts'
import { TestProxy } from '../../testing/http-proxy.ts'
import { type Tenant, TestService } from '../../testing/service.ts'
import { type ClientOptions, Promptledger } from '../src/index.ts'

/** The real service on a real socket, with a proxy in front that does to requests what the test wants. */
export class LiveService extends TestService {
  address = ''
  readonly proxy = new TestProxy()

  override async open(engine: Engine): Promise<void> {
    await super.open(engine)
    await this.app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = this.app.server.address() as AddressInfo
    this.address = `http://127.0.0.1:${port}`
    await this.proxy.open(port)
  }

  override async close(): Promise<void> {
    await this.proxy.close()
    await super.close()
  }

  /** A client that reaches the service through the proxy. */
  ledger(tenant: Tenant, options: ClientOptions = {}): Promptledger {
    this.proxy.reset()
    return new Promptledger({ apiKey: tenant.key, baseUrl: this.proxy.address, ...options })
  }
}

/** Opens a service for the tests of the surrounding suite. */
export function useLiveService(engine: Engine): LiveService {
  const service = new LiveService()
  before(() => service.open(engine))
  after(() => service.close())
  return service
}
