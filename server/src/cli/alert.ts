import { type Command, Option } from 'commander'
import type { AddedAlertBody, AlertBody, AlertDeliveryBody, TestedAlertBody } from '../../../contract/alerts.ts'
import type { Config } from '../config.ts'
import { operator } from '../domain/access/audit.ts'
import { type Channel, channels, signedChannels } from '../domain/alerts/alert.ts'
import { type AlertService, alertState } from '../domain/alerts/alert-service.ts'
import { defaultRules } from '../domain/alerts/rules.ts'
import { pageRequest } from '../domain/page.ts'
import type { Store } from '../domain/store.ts'
import {
  toAddedAlertBody,
  toAlertBody,
  toAlertDeliveryBody,
  toRotatedAlertSecretBody,
  toTestedAlertBody,
} from '../http/alerts/body.ts'
import {
  addRuleOptions,
  addTargetOptions,
  type RuleOptions,
  rulesFrom,
  slackTokenFrom,
  type TargetOptions,
  targetFrom,
} from './alert-options.ts'
import { integerArgument, namingOptions, type OptionNames, overlapOption } from './arguments.ts'
import { alertDeliveryOrFail, alertOrFail, organisationOrFail } from './lookup.ts'
import { print, table } from './output.ts'
import { publicUrl } from './repository-service.ts'
import { withStore } from './with-store.ts'

interface AddOptions extends RuleOptions, TargetOptions {
  org: number
  name: string
  channel: Channel
}

interface UpdateOptions extends RuleOptions, TargetOptions {
  enable?: boolean
  disable?: boolean
}

/** `alert …`: where people are told about regressions. */
export function alertCommands(program: Command): void {
  const alert = program
    .command('alert')
    .description('tell people about regressions, by webhook, Slack, Teams, Discord, email, PagerDuty or Linear')

  const add = alert
    .command('add')
    .description('add an alert; the signing secret of a webhook is printed once')
    .requiredOption('--org <id>', 'ID of the organisation', integerArgument)
    .requiredOption('--name <name>', 'label in lists and in the audit log')
    .addOption(new Option('--channel <channel>', 'how to tell').choices(channels).makeOptionMandatory())
  addRuleOptions(addTargetOptions(add), true).action((options: AddOptions, command: Command) =>
    withStore(async (store, config) => {
      const { org, channel, name } = options
      await organisationOrFail(store, org)
      const target = await targetFrom(channel, options)
      if (target === null) throw new Error('Pass the target with --target-env, --target-stdin or --target.')
      const service = await openLocalAlertService(config, store)
      const rules = { ...defaultRules, ...rulesFrom(options), name }
      const added = await service
        .add({ organisationId: org, channel, target, slackToken: slackTokenFrom(options), ...rules }, operator)
        .catch(namingOptions(alertOptions))
      const body = toAddedAlertBody(added)
      print(command, body, describeAdded(body))
    }),
  )

  alert
    .command('list')
    .description('list the alerts of an organisation')
    .requiredOption('--org <id>', 'ID of the organisation', integerArgument)
    .action(({ org }: { org: number }, command: Command) =>
      withStore(async (store) => {
        await organisationOrFail(store, org)
        const newest = new Map((await store.alertDeliveries.newestOfEach(org)).map((each) => [each.alertId, each]))
        const alerts = (await store.alerts.list(org)).map((each) => {
          const last = newest.get(each.id)
          return toAlertBody(each, last === undefined ? null : { ...last, alert: each })
        })
        print(command, alerts, table(alerts.map(listRow), `No alerts yet. See 'promptledger alert add --help'.`))
      }),
    )

  const update = alert
    .command('update')
    .description('change an alert; other settings stay')
    .argument('<alert-id>', 'ID of the alert')
    .option('--name <name>', 'label in lists and in the audit log')
    .option('--enable', 'enable it again, after it was disabled')
    .addOption(new Option('--disable', 'send nothing until it is enabled again').conflicts('enable'))
    .option('--no-slack-token', 'remove the bot token of Slack')
  addRuleOptions(addTargetOptions(update), false).action((id: string, options: UpdateOptions, command: Command) =>
    withStore(async (store, config) => {
      const current = await alertOrFail(store, id)
      const { enable = false, disable = false } = options
      const target = await targetFrom(current.channel, options)
      const state = enable ? 'active' : disable ? 'disabled' : undefined
      const service = await openLocalAlertService(config, store)
      const slackToken = slackTokenFrom(options)
      const changes = { ...rulesFrom(options), target: target ?? undefined, slackToken, state } as const
      const updated = await service.update(current, changes, operator).catch(namingOptions(alertOptions))
      print(command, toAlertBody(updated, null), `Updated alert ${id}, ${updated.name}: ${alertState(updated)}.`)
    }),
  )

  alert
    .command('test')
    .description('send a test message now and print the response; fails if it was not accepted')
    .argument('<alert-id>', 'ID of the alert')
    .action((id: string, _options: object, command: Command) =>
      withStore(async (store, config) => {
        const tested = await alertOrFail(store, id)
        const service = await openLocalAlertService(config, store)
        const body = toTestedAlertBody(await service.test(tested, operator))
        print(command, body, describeTest(body))
        if (body.sent) return
        const isPrivate =
          body.status === null && signedChannels.includes(tested.channel) && !config.allowPrivateAlertTargets
        const hint = isPrivate ? ' For a receiver in your own network, set ALLOW=private-alert-targets.' : ''
        throw new Error(`The test was not accepted: ${body.error ?? 'no reason given'}${hint}`)
      }),
    )

  alert
    .command('rotate-secret')
    .description('replace the signing secret of a webhook; requests carry both signatures until the overlap ends')
    .argument('<alert-id>', 'ID of the alert')
    .addOption(overlapOption('how long requests are also signed with the old secret'))
    .action((id: string, { overlap }: { overlap: number }, command: Command) =>
      withStore(async (store, config) => {
        const service = await openLocalAlertService(config, store)
        const rotated = await service.rotateSecret(await alertOrFail(store, id), overlap, operator)
        const body = toRotatedAlertSecretBody(rotated)
        const note = `Save it now: it is not shown again. Requests are also signed with the old secret until ${body.old_secret_until}.`
        print(command, body, `${body.secret}\n${note}`)
      }),
    )

  alert
    .command('deliveries')
    .description('list deliveries, sent, waiting and failed, newest first')
    .requiredOption('--org <id>', 'ID of the organisation', integerArgument)
    .option('--alert <id>', 'only those of one alert')
    .option('--limit <count>', 'maximum number to list, up to 100', integerArgument, 50)
    .action(({ org, alert: id, limit }: { org: number; alert?: string; limit: number }, command: Command) =>
      withStore(async (store) => {
        await organisationOrFail(store, org)
        const only = id === undefined ? null : await alertOrFail(store, id)
        const page = pageRequest('1', String(limit))
        const { deliveries } = await store.alertDeliveries.page(org, only?.id ?? null, page)
        const bodies = deliveries.map(toAlertDeliveryBody)
        print(command, bodies, table(bodies.map(deliveryRow), 'No deliveries yet.'))
      }),
    )

  alert
    .command('retry')
    .description('send a failed delivery again, with the same ID')
    .argument('<delivery-id>', 'ID of the delivery')
    .requiredOption('--org <id>', 'ID of the organisation', integerArgument)
    .action((id: string, { org }: { org: number }, command: Command) =>
      withStore(async (store, config) => {
        await organisationOrFail(store, org)
        const delivery = await alertDeliveryOrFail(store, org, id)
        const service = await openLocalAlertService(config, store)
        const pending = await service.retry(delivery, operator)
        const text = `Delivery ${id} is pending. The service sends it within seconds.`
        print(command, toAlertDeliveryBody({ ...delivery, ...pending }), text)
      }),
    )

  alert
    .command('remove')
    .description('remove an alert, and cancel its waiting deliveries')
    .argument('<alert-id>', 'ID of the alert')
    .action((id: string, _options: object, command: Command) =>
      withStore(async (store) => {
        const removed = await alertOrFail(store, id)
        await store.alerts.remove(removed, Date.now(), operator)
        print(command, toAlertBody(removed, null), `Removed alert ${id}, ${removed.name}.`)
      }),
    )
}

function describeAdded({ id, name, channel, target_hint: hint, secret }: AddedAlertBody): string {
  const added = `Added alert ${id}, ${name}: ${channel} to ${hint}.`
  const test = `Send a test with 'promptledger alert test ${id}'.`
  if (secret === null) return `${added}\n${test}`
  return `${secret}
${added} The line above is its signing secret. Save it now: it is not shown again.
${test}`
}

function listRow({ id, name, channel, target_hint: target, prompts, events, state, last_delivery: last }: AlertBody) {
  const delivered = last === null ? null : `${last.event} ${last.state} ${last.finished_at ?? last.created_at}`
  return { id, name, channel, target, prompts, events: events.length, state, last_delivery: delivered }
}

function describeTest({ sent, status, response, milliseconds }: TestedAlertBody): string {
  const answer = status === null ? 'no response' : `status ${status}`
  const text = response ? `\n${response}` : ''
  return `${sent ? 'Sent' : 'Not sent'}: ${answer} after ${milliseconds} ms.${text}`
}

function deliveryRow(delivery: AlertDeliveryBody) {
  const { id, alert, event, prompts, state, attempts, status, error, next_attempt_at: next } = delivery
  return {
    id,
    alert: alert?.name ?? null,
    event,
    prompts: prompts.map(({ name }) => name).join(', ') || null,
    state,
    attempts,
    status,
    error,
    created_at: delivery.created_at,
    next_attempt_at: next,
  }
}

/** Imported on demand, because most commands send nothing. */
async function openLocalAlertService(config: Config, store: Store): Promise<AlertService> {
  const [{ openAlertService }, { openVault }, { createLogger }] = await Promise.all([
    import('../service/alerts.ts'),
    import('../service/secret-key.ts'),
    import('../service/log.ts'),
  ])
  return openAlertService(config, {
    store,
    vault: await openVault(config, store.secrets),
    publicUrl: () => publicUrl(config),
    log: createLogger(config.logLevel),
    // The service finds due deliveries by polling.
    wake: () => {},
  })
}

const alertOptions: OptionNames = {
  name: '--name',
  target: 'The target',
  slackToken: 'The bot token',
  prompts: '--prompts',
  events: '--events',
  hold: '--hold',
  minSignals: '--min-signals',
  recoveryHold: '--recovery-hold',
  repeat: '--repeat',
  signals: '--signals',
}
