import type { Command } from 'commander'
import { type Config, readConfig } from '../config.ts'
import type { FirstRun } from '../service/first-run.ts'
import { portArgument } from './arguments.ts'
import { formatLimit, print } from './output.ts'

export function serveCommand(program: Command): void {
  program
    .command('serve')
    .description('run the service; what happens without a command')
    .option('--port <n>', 'port to listen on; overrides PORT', portArgument)
    .option('--host <host>', 'address to listen on; overrides HOST')
    .action(async (options: { port?: number; host?: string }, command: Command) => {
      const config = { ...readConfig(), ...options }
      const { serve } = await import('../service/serve.ts')
      const { address, metricsAddress, firstRun } = await serve(config)
      const json = {
        address,
        ...(metricsAddress && { metrics: metricsAddress }),
        first_run: firstRun && {
          key: firstRun.secret,
          prompt_id: firstRun.promptId,
          plan: firstRun.plan,
          monthly_limit: config.planLimits[firstRun.plan],
        },
      }
      const listening = `Promptledger is listening on ${address}`
      print(
        command,
        json,
        firstRun === null ? listening : `${listening}\n${describeFirstRun(address, firstRun, config)}`,
      )
    })
}

function describeFirstRun(
  address: string,
  { organisationId, plan, secret, promptId }: FirstRun,
  { planLimits }: Config,
): string {
  const prompt = `${address}/api/v1/prompts/${promptId}`
  return `
First start: created an organisation on the Free plan, a sample prompt and this admin key.
${describeLimit(organisationId, planLimits[plan])}
The key is shown only once:

  ${secret}

Open ${address} and sign in with the key, or read the sample prompt's history:

curl -H 'Authorization: Bearer ${secret}' ${prompt}/history

Record a signal for it:

curl -X POST -H 'Authorization: Bearer ${secret}' -H 'Content-Type: application/json' -d '{"value":"positive"}' ${prompt}/signals
`
}

function describeLimit(organisationId: number, limit: number | null): string {
  if (limit === null) return 'The organisation may record any number of signals.'
  return `The organisation may record ${formatLimit(limit)}. To raise that, start with PLAN_LIMITS=free=unlimited (or a number),
or change the plan: promptledger org set-plan ${organisationId} business`
}
