import { type Command, InvalidArgumentError, Option } from 'commander'
import type { AlertRules, Channel } from '../domain/alerts/alert.ts'
import { type AlertEvent, alertEvents } from '../domain/alerts/event.ts'
import { durationArgument, integerArgument } from './arguments.ts'
import { secretFrom } from './with-store.ts'

export interface TargetOptions {
  target?: string
  targetEnv?: string
  targetStdin?: boolean
  slackTokenEnv?: string
  /** False with `--no-slack-token`. */
  slackToken?: boolean
}

export interface RuleOptions {
  name?: string
  prompts?: string
  events?: AlertEvent[]
  hold?: number
  minSignals?: number
  recoveryHold?: number
  repeat?: number | 'never'
  /** False with `--no-signals`. */
  signals?: boolean
}

export function addTargetOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--target-env <name>',
        'environment variable with the target: a URL, email addresses separated by commas, the routing key of PagerDuty, or team:key of Linear',
      ).conflicts(['target', 'targetStdin']),
    )
    .addOption(new Option('--target-stdin', 'read the target from standard input').conflicts('target'))
    .option('--target <target>', 'the target itself, for webhooks and email; other users of this machine can see it')
    .option(
      '--slack-token-env <name>',
      'environment variable with a bot token of Slack with the scope users:read.email, to mention the owner',
    )
}

/** Undefined if no option names one. */
export function slackTokenFrom({ slackTokenEnv, slackToken }: TargetOptions): string | null | undefined {
  if (slackTokenEnv !== undefined) return secretFrom(slackTokenEnv)
  return slackToken === false ? null : undefined
}

/** `defaults` are shown in the help of `add`. An update changes only the options that are given. */
export function addRuleOptions(command: Command, hasDefaults: boolean): Command {
  const help = (text: string, fallback: string) => (hasDefaults ? `${text} (default: ${fallback})` : text)
  const added = command
    .option('--prompts <glob>', help("only prompts whose name or path matches, such as 'prompts/support/**'", 'all'))
    .addOption(
      new Option('--events <events...>', help('what to tell', 'everything but digest.weekly')).choices(alertEvents),
    )
    .option('--hold <duration>', help('how long a regression has to last before it is told', '15m'), durationArgument)
    .option('--min-signals <count>', help('how many signals the change needs first', '50'), integerArgument)
    .option('--recovery-hold <duration>', help('how long a recovery has to last', '15m'), durationArgument)
    .option('--repeat <duration>', help('tell again after this time while it stays open, or never', 'never'), repeat)
    .option('--signals', help('also send every signal, with the channel cloudevents', 'no'))
  // After the positive form: commander would otherwise set it by default.
  return hasDefaults ? added : added.option('--no-signals', 'send no signals')
}

export function rulesFrom(options: RuleOptions): Partial<AlertRules> {
  const { name, prompts, events, hold, minSignals, recoveryHold, repeat, signals } = options
  return {
    ...(name !== undefined && { name }),
    ...(prompts !== undefined && { prompts }),
    ...(events !== undefined && { events }),
    ...(hold !== undefined && { holdMs: hold }),
    ...(minSignals !== undefined && { minSignals }),
    ...(recoveryHold !== undefined && { recoveryHoldMs: recoveryHold }),
    ...(repeat !== undefined && { repeatMs: repeat === 'never' ? null : repeat }),
    ...(signals !== undefined && { signals }),
  }
}

/** Null if no option names a target. */
export async function targetFrom(channel: Channel, options: TargetOptions): Promise<string | null> {
  const { target, targetEnv, targetStdin = false } = options
  if (target !== undefined && isSecret(channel)) {
    throw new Error(`The target of ${channel} is a secret. Pass it with --target-env or --target-stdin.`)
  }
  if (targetStdin) return await readLine()
  return target ?? secretFrom(targetEnv)
}

/** The URL of an incoming webhook of Slack, Teams or Discord, a routing key of PagerDuty, or an API key of Linear is all it takes to post. */
function isSecret(channel: Channel): boolean {
  return ['slack', 'teams', 'discord', 'pagerduty', 'linear'].includes(channel)
}

const maxInputLength = 10_000

async function readLine(): Promise<string> {
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += chunk
    if (text.length > maxInputLength) throw new Error('Standard input is too long for a target.')
  }
  const line = text.trim()
  if (line === '') throw new Error('Standard input is empty. Write the target to it.')
  return line
}

function repeat(text: string): number | 'never' {
  if (text === 'never') return text
  try {
    return durationArgument(text)
  } catch {
    throw new InvalidArgumentError('Must be a number and a unit, such as 12h or 7d, or never.')
  }
}
