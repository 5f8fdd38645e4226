import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { createApplication, createShop, type Shop } from '../demo/shop.ts'
import { createJudge } from '../service/judge.ts'
import { createLogger } from '../service/log.ts'
import { serve } from '../service/serve.ts'
import { stopSignals } from '../service/shutdown.ts'
import { openSyncContext } from '../service/sync-context.ts'
import { openStore } from '../store/open.ts'

export interface Demo extends Shop {
  address: string
}

/** Starts the service on a temporary database with sample data. The process deletes its folder on exit. */
export async function startDemo(settings: Config, onStep: (text: string) => void): Promise<Demo> {
  // By default a signal ends the process without 'exit' handlers. Once the service runs, it handles them itself.
  for (const signal of stopSignals) process.on(signal, exitOnSignal)
  const folder = mkdtempSync(join(tmpdir(), 'promptledger-demo-'))
  process.on('exit', () => deleteFolder(folder))
  const config: Config = {
    ...settings,
    databaseUrl: `sqlite:${join(folder, 'promptledger.db')}`,
    dataDir: folder,
    secretKey: null,
    firstRun: false,
    signalRetentionDays: null,
  }
  const shop = await fillDatabase(config, onStep)
  const { address } = await serve(config, createApplication(shop))
  for (const signal of stopSignals) process.off(signal, exitOnSignal)
  return { address, ...shop }
}

const inFlightMs = 50

/** Deletes the folder again after a moment: a file operation still in the thread pool would recreate it. */
function deleteFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, inFlightMs)
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

function exitOnSignal(_signal: NodeJS.Signals, number: number): void {
  process.exit(128 + number)
}

async function fillDatabase(config: Config, onStep: (text: string) => void): Promise<Shop> {
  const store = await openStore({
    url: config.databaseUrl,
    poolSize: config.databasePoolSize,
    clock: Date.now,
    onLostConnection: () => {},
  })
  try {
    const log = createLogger(config.logLevel)
    const context = await openSyncContext(config, store, log)
    const shop = await createShop({ ...context, allowLocal: true }, Date.now(), onStep)
    onStep('Judging the changes')
    // Right away, so that the console shows what happened as soon as it opens.
    await createJudge({ store, clock: Date.now, log, restFactor: 0 }).round()
    return shop
  } finally {
    await store.close()
  }
}
