import { type Command, InvalidArgumentError, Option } from 'commander'
import type { AddedSourceBody, SourceBody } from '../../../contract/sources.ts'
import type { Config } from '../config.ts'
import { operator } from '../domain/access/audit.ts'
import { addSource, type SourceContext, updateSource } from '../domain/sources/manage-source.ts'
import {
  type AdapterName,
  adapterNames,
  noSettings,
  type SourceField,
  type SourceSettings,
  sourceFields,
} from '../domain/sources/source.ts'
import type { Store } from '../domain/store.ts'
import { toAddedSourceBody, toSourceBody } from '../http/sources/body.ts'
import { integerArgument, namingOptions } from './arguments.ts'
import { organisationOrFail, sourceOrFail } from './lookup.ts'
import { print, table } from './output.ts'
import { publicUrl } from './repository-service.ts'
import { secretFrom, withStore } from './with-store.ts'

interface SettingOptions {
  name?: string
  prompt?: string
  field?: Partial<Record<SourceField, string>>
  positive?: string[]
  negative?: string[]
  midpoint?: number
  url?: string
  score?: string
  secretEnv?: string
}

const optionNames = {
  name: '--name',
  prompt: '--prompt',
  secret: 'The secret',
  baseUrl: '--url',
  score: '--score',
  positiveValues: '--positive',
  negativeValues: '--negative',
  ...Object.fromEntries(sourceFields.map((field) => [`fields.${field}`, `--field ${field}`])),
}

/** `source …`: products that send feedback. */
export function sourceCommands(program: Command): void {
  const source = program
    .command('source')
    .description(
      'record feedback that other products send: Slack, LangSmith, PostHog, Intercom, Zendesk or any webhook',
    )

  const add = source
    .command('add')
    .description('add a source; prints its URL, and once the secret that authenticates its requests')
    .requiredOption('--org <id>', 'ID of the organisation', integerArgument)
    .requiredOption('--name <name>', 'label in lists and in the audit log')
    .addOption(new Option('--adapter <adapter>', 'which product').choices(adapterNames).makeOptionMandatory())
  addSettingOptions(add).action(
    (options: SettingOptions & { org: number; name: string; adapter: AdapterName }, command: Command) =>
      withStore(async (store, config) => {
        const { org, name, adapter } = options
        await organisationOrFail(store, org)
        const secret = secretFrom(options.secretEnv)
        const requested = {
          organisationId: org,
          name,
          adapter,
          secret,
          settings: { ...noSettings, ...settingsFrom(options) },
        }
        const context = await openContext(store, config)
        const added = await addSource(context, requested, operator).catch(namingOptions(optionNames))
        const body = toAddedSourceBody(added, publicUrl(config))
        print(command, body, describeAdded(body))
      }),
  )

  source
    .command('list')
    .description('list the sources of an organisation, and what arrived from them')
    .requiredOption('--org <id>', 'ID of the organisation', integerArgument)
    .action(({ org }: { org: number }, command: Command) =>
      withStore(async (store, config) => {
        await organisationOrFail(store, org)
        const bodies = (await store.sources.list(org)).map((each) => toSourceBody(each, publicUrl(config)))
        print(command, bodies, table(bodies.map(listRow), `No sources yet. See 'promptledger source add --help'.`))
      }),
    )

  const update = source
    .command('update')
    .description('change a source; other settings stay')
    .argument('<source-id>', 'ID of the source')
    .option('--name <name>', 'label in lists and in the audit log')
  addSettingOptions(update).action((id: string, options: SettingOptions, command: Command) =>
    withStore(async (store, config) => {
      const current = await sourceOrFail(store, id)
      const given = settingsFrom(options)
      const settings = { ...given, ...(given.fields && { fields: { ...current.settings.fields, ...given.fields } }) }
      const secret = secretFrom(options.secretEnv) ?? undefined
      const updated = await updateSource(
        await openContext(store, config),
        current,
        { name: options.name, settings, secret },
        operator,
      ).catch(namingOptions(optionNames))
      print(command, toSourceBody(updated, publicUrl(config)), `Updated source ${id}, ${updated.name}.`)
    }),
  )

  source
    .command('remove')
    .description('remove a source; the signals that it recorded stay')
    .argument('<source-id>', 'ID of the source')
    .action((id: string, _options: object, command: Command) =>
      withStore(async (store, config) => {
        const removed = await sourceOrFail(store, id)
        await store.sources.remove(removed, Date.now(), operator)
        print(command, toSourceBody(removed, publicUrl(config)), `Removed source ${id}, ${removed.name}.`)
      }),
    )
}

function addSettingOptions(command: Command): Command {
  return command
    .option('--prompt <prompt>', 'ID, name or path of the prompt of events that name none')
    .option(
      '--field <field=path>',
      `where a field is in an event, such as value=$.rating; repeat it for others of ${sourceFields.join(', ')}`,
      fieldArgument,
    )
    .option('--positive <values...>', 'values that count as positive, beside those that the adapter knows')
    .option('--negative <values...>', 'values that count as negative')
    .option('--midpoint <number>', 'numbers above count as positive, those below as negative', numberArgument)
    .option('--url <url>', 'URL of Langfuse, which is polled, such as https://cloud.langfuse.com')
    .option('--score <name>', 'only scores of this name of Langfuse are votes')
    .option(
      '--secret-env <name>',
      'environment variable with the signing secret of Slack, Intercom or Zendesk, or the keys of Langfuse as public:secret',
    )
}

function settingsFrom({
  prompt,
  field,
  positive,
  negative,
  midpoint,
  url,
  score,
}: SettingOptions): Partial<SourceSettings> {
  return {
    ...(prompt !== undefined && { prompt }),
    ...(field !== undefined && { fields: field }),
    ...(positive !== undefined && { positive }),
    ...(negative !== undefined && { negative }),
    ...(midpoint !== undefined && { midpoint }),
    ...(url !== undefined && { baseUrl: url }),
    ...(score !== undefined && { score }),
  }
}

function fieldArgument(text: string, others: SettingOptions['field']): SettingOptions['field'] {
  const [, name = '', path = ''] = /^(\w+)=(.+)$/s.exec(text) ?? []
  const field = sourceFields.find((each) => each === name)
  if (field === undefined) {
    throw new InvalidArgumentError(`Write a field and its path, such as value=$.rating: ${sourceFields.join(', ')}.`)
  }
  return { ...others, [field]: path }
}

function numberArgument(text: string): number {
  const number = Number(text)
  if (text.trim() === '' || !Number.isFinite(number)) throw new InvalidArgumentError('Must be a number.')
  return number
}

/** Opens the vault on demand: listing needs no secret key. */
async function openContext(store: Store, config: Config): Promise<SourceContext> {
  const { openVault } = await import('../service/secret-key.ts')
  return { sources: store.sources, vault: await openVault(config, store.secrets), clock: Date.now }
}

function describeAdded({ id, name, adapter, url, secret, has_secret: hasSecret }: AddedSourceBody): string {
  const added = `Added source ${id}, ${name}: ${adapter}. It receives events at\n${url}`
  if (secret !== null) {
    return `${secret}\n${added}\nThe first line is its secret. Save it now: it is not shown again.`
  }
  if (hasSecret) return added
  return `${added}\nSet the secret that ${adapter} shows with 'promptledger source update ${id} --secret-env NAME'.`
}

function listRow({ id, name, adapter, received, recorded, rejected, ...source }: SourceBody) {
  return {
    ...{ id, name, adapter, received, recorded, rejected },
    last_received_at: source.last_received_at,
    last_rejection: source.last_rejection,
  }
}
