import type { TestService } from '../testing/service.ts'

// The real service in this process, on a real socket, with a clock that the fault sets.

/** Opens the service on this database and returns its port. */
export async function openService(service: TestService, url: string): Promise<number> {
  await service.open({ create: async () => ({ url, remove: async () => {} }) })
  const address = await service.app.listen({ host: '127.0.0.1', port: 0 })
  return Number(new URL(address).port)
}

export async function stopService(service: TestService): Promise<void> {
  await service.lastUsed.flush()
  await crashService(service)
}

/** Ends the service without an orderly stop: connections are reset, and the uses of keys since the last flush are lost. */
export async function crashService(service: TestService): Promise<void> {
  service.app.server.closeAllConnections()
  await service.close()
}
