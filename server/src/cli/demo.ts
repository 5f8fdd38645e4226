import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { makeShop, type Shop, type ShopPrompt } from '../demo/shop.ts'
import { isoTime } from '../domain/time.ts'
import { newLog } from '../service/log.ts'
import { serve } from '../service/serve.ts'
import { openSyncContext } from '../service/sync-context.ts'
import { openStore } from '../store/open.ts'

export interface Demo extends Shop {
  address: string
}

/** Starts the service on made-up data, in a folder that goes when the process does. */
export async function demo(settings: Config): Promise<Demo> {
  // Whoever is ended by a signal does not get to tidy up, so this comes before the folder is there. The service minds two of
  // them, once it runs.
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.on(signal, endBySignal)
  const folder = mkdtempSync(join(tmpdir(), 'promptledger-demo-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const config: Config = {
    ...settings,
    databaseUrl: `sqlite:${join(folder, 'promptledger.db')}`,
    dataDir: folder,
    secretKey: null,
    firstRun: false,
    signalRetentionDays: null,
  }
  const shop = await fill(config)
  const { address } = await serve(config)
  for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, endBySignal)
  return { address, ...shop }
}

function endBySignal(_signal: NodeJS.Signals, number: number): void {
  process.exit(128 + number)
}

async function fill(config: Config): Promise<Shop> {
  const store = await openStore({
    url: config.databaseUrl,
    poolSize: config.databasePoolSize,
    clock: Date.now,
    onLostConnection: () => {},
  })
  try {
    const follow = await openSyncContext(config, store, newLog(config.logLevel))
    return await makeShop({ ...follow, allowLocal: true }, Date.now())
  } finally {
    await store.close()
  }
}

export function demoBody({ address, secret, prompts }: Demo): object {
  return {
    address,
    key: secret,
    prompts: prompts.map(({ publicId, name, changes }) => ({
      id: publicId,
      name,
      changes: changes.map(({ title, impact: { entry, verdict } }) => ({ entry_id: entry.id, title, verdict })),
    })),
  }
}

export function describeDemo({ address, secret, signalCount, prompts }: Demo): string {
  return `Promptledger runs on ${address}

This is a demonstration: a made-up shop with three prompts, a year of changes to them and ${signalCount.toLocaleString('en')} signals.
All of it is gone when you stop it with Ctrl-C.

Open ${address} and sign in with this key:

  ${secret}

Look at what the changes did to what users think:

${prompts.map(describePrompt).join('\n\n')}

The same over HTTP:

curl -H 'Authorization: Bearer ${secret}' ${address}/api/v1/prompts/${prompts[0]?.publicId}/impact
`
}

function describePrompt({ name, changes }: ShopPrompt): string {
  const telling = changes.filter(({ impact: { verdict } }) => verdict === 'better' || verdict === 'worse').reverse()
  const others = changes.length - telling.length
  const lines = telling.map(({ title, impact: { liveFrom, before, after, verdict } }) => {
    const rates = `${percent(before.rate)} → ${percent(after.rate)} positive`
    return `  ${isoTime(liveFrom).slice(0, 10)}  ${verdict.padEnd(6)}  ${rates}  ${title}`
  })
  const rest = `  ${others}${lines.length === 0 ? '' : ' other'} changes: no difference seen, or too little data to tell`
  return [name, ...lines, rest].join('\n')
}

function percent(rate: number | null): string {
  return `${Math.round((rate ?? 0) * 100)} %`
}
