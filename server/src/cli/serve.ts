import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import { portArgument } from './arguments.ts'
import { print } from './output.ts'

export function serveCommand(program: Command): void {
  program
    .command('serve')
    .description('run the service')
    .option('--port <n>', 'port to listen on; overrides PORT', portArgument)
    .option('--host <host>', 'address to listen on; overrides HOST')
    .action(async (options: { port?: number; host?: string }, command: Command) => {
      const config = { ...readConfig(), ...options }
      const { serve } = await import('../service/serve.ts')
      const { address, metricsAddress, firstRun } = await serve(config)
      const json = {
        address,
        ...(metricsAddress && { metrics: metricsAddress }),
        first_run: firstRun && { key: firstRun.secret, prompt_id: firstRun.promptId },
      }
      const listening = `Promptledger is listening on ${address}`
      print(command, json, firstRun === null ? listening : `${listening}\n${describeFirstRun(address, firstRun)}`)
    })
}

function describeFirstRun(address: string, { secret, promptId }: { secret: string; promptId: string }): string {
  const prompt = `${address}/api/v1/prompts/${promptId}`
  return `
First start: created an organisation on the Free plan, a sample prompt and this admin key.
The key is shown only once:

  ${secret}

Open ${address} and sign in with the key, or read the sample prompt's history:

curl -H 'Authorization: Bearer ${secret}' ${prompt}/history

Record a signal for it:

curl -X POST -H 'Authorization: Bearer ${secret}' -H 'Content-Type: application/json' -d '{"value":"positive"}' ${prompt}/signals
`
}
