import type { AddressInfo } from 'node:net'
import { after, before } from 'node:test'
import { onTestEnd } from '../../testing/cleanup.ts'
import type { Engine } from '../../testing/engines.ts'
import { HttpProxy } from '../../testing/http-proxy.ts'
import { type Tenant, TestService } from '../../testing/service.ts'
import { type ClientOptions, Promptledger, type QueueOptions, type SignalQueue } from '../src/index.ts'

/** The real service on a real socket, behind a proxy that can break requests. */
export class LiveService extends TestService {
  address = ''
  readonly proxy = new HttpProxy()
  /** Requests that the service has finished, including those whose client gave up. */
  servedCount = 0

  override async open(engine: Engine): Promise<void> {
    await super.open(engine)
    this.app.server.on('request', (_request, response) => response.once('close', () => this.servedCount++))
    await this.app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = this.app.server.address() as AddressInfo
    this.address = `http://127.0.0.1:${port}`
    await this.proxy.open(port)
  }

  override async close(): Promise<void> {
    await this.proxy.close()
    await super.close()
  }

  /** A client that reaches the service through the proxy, which passes every request on until a test says otherwise. */
  ledger(tenant: Tenant, options: ClientOptions = {}): Promptledger {
    this.proxy.reset()
    return new Promptledger({ apiKey: tenant.key, baseUrl: this.proxy.address, ...options })
  }

  /** A queue that closes with the test. */
  queue(tenant: Tenant, options: QueueOptions = {}): SignalQueue {
    const queue = this.ledger(tenant).signals.queue(options)
    onTestEnd(() => queue.close({ timeout: 0 }))
    return queue
  }

  /** The `number` in the metadata of each recorded signal, in ascending order. */
  async recordedNumbers(tenant: Tenant): Promise<number[]> {
    const numbers: number[] = []
    for await (const { metadata } of this.ledger(tenant).signals.export(tenant.prompt.publicId)) {
      numbers.push(Number(metadata?.number))
    }
    return numbers.sort((a, b) => a - b)
  }
}

/** Opens a service for the tests of the surrounding suite. */
export function useLiveService(engine: Engine): LiveService {
  const service = new LiveService()
  before(() => service.open(engine))
  after(() => service.close())
  return service
}

/** The numbers from 0 to below `count`. */
export function numbersBelow(count: number): number[] {
  return Array.from({ length: count }, (_, number) => number)
}
