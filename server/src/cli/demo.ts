import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import type { ShopPrompt } from '../demo/shop.ts'
import { isoTime } from '../domain/time.ts'
import { portArgument } from './arguments.ts'
import { formatCount, print, visibleLine } from './output.ts'
import type { Demo } from './start-demo.ts'

export function demoCommand(program: Command): void {
  program
    .command('demo')
    .description('run the service on a temporary database with a year of sample history and signals')
    .option('--port <n>', 'port to listen on; overrides PORT', portArgument)
    .option('--host <host>', 'address to listen on; overrides HOST')
    .action(async (options: { port?: number; host?: string }, command: Command) => {
      const onStep = (text: string) => void process.stderr.write(`${visibleLine(text)}…\n`)
      // Before the modules of the service are loaded, which takes a second.
      onStep('Preparing the demo, which takes some seconds')
      const { startDemo } = await import('./start-demo.ts')
      const demo = await startDemo({ ...readConfig(), ...options }, onStep)
      print(command, toJson(demo), describe(demo))
    })
}

function toJson({ address, secret, prompts }: Demo): object {
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

function describe({ address, secret, signalCount, prompts }: Demo): string {
  return `Promptledger is listening on ${address}

This is a demo: a fictional shop with four prompts, a year of changes to them and ${formatCount(signalCount, 'signal')}.
Press Ctrl-C to stop it and delete all of its data.

Open ${address} and sign in with this key:

  ${secret}

These changes made a difference to users:

${prompts.map(describePrompt).join('\n\n')}

The same over HTTP:

curl -H 'Authorization: Bearer ${secret}' ${address}/api/v1/prompts/${prompts[0]?.publicId}/impact

A page of the shop whose users vote: ${address}/demo/thumbs
`
}

function describePrompt({ name, changes }: ShopPrompt): string {
  const conclusive = changes.filter(({ impact: { verdict } }) => verdict === 'better' || verdict === 'worse').reverse()
  const lines = conclusive.map(({ title, impact: { liveFrom, before, after, verdict } }) => {
    const rates = `${percent(before.rate)} → ${percent(after.rate)} positive`
    return `  ${isoTime(liveFrom).slice(0, 10)}  ${verdict.padEnd(6)}  ${rates}  ${title}`
  })
  const others = formatCount(changes.length - conclusive.length, lines.length === 0 ? 'change' : 'other change')
  return [name, ...lines, `  ${others}: no clear difference, or not enough data yet`].join('\n')
}

function percent(rate: number | null): string {
  return `${Math.round((rate ?? 0) * 100)}%`
}
