import { randomUUID } from 'node:crypto'
import { tokens } from '../../../client/src/resources/tokens.ts'
import { issueKey, type KeyDetails } from '../domain/access/api-key.ts'
import { operator } from '../domain/access/audit.ts'
import { newOrganisation, type Organisation } from '../domain/access/organisation.ts'
import { type Impact, impactOf } from '../domain/impact/impact.ts'
import type { Prompt } from '../domain/prompt.ts'
import type { NewSignal } from '../domain/signals/signal.ts'
import type { Store } from '../domain/store.ts'
import { day, hour, type Instant, minute } from '../domain/time.ts'
import type { SyncContext } from '../follow/sync-context.ts'
import { deployCanary } from './canary.ts'
import type { DemoPrompt } from './change.ts'
import { createHistory } from './history.ts'
import { readDemoPrompts } from './prompts.ts'
import { generateSignals } from './signals.ts'
import { landings, week } from './timeline.ts'

/** A fictional online shop with a year of prompt changes and signals. */
export interface Shop {
  /** The secret of an admin key. */
  secret: string
  /** Signs the tokens that a page of the shop votes with. */
  signingKey: string
  signalCount: number
  prompts: ShopPrompt[]
}

export interface ShopPrompt {
  publicId: string
  name: string
  /** Newest first. */
  changes: { title: string; impact: Impact }[]
}

/** `onStep` is told what happens next, because it takes seconds. */
export async function createShop(
  context: SyncContext,
  now: Instant,
  onStep: (text: string) => void = () => {},
): Promise<Shop> {
  const { store } = context
  const demoPrompts = readDemoPrompts()
  const { organisation, secret, signingKey } = await createOrganisation(context, now)
  onStep('Creating a git repository with a year of changes, and reading its history')
  const prompts = await createHistory(context, organisation.id, demoPrompts, now)
  const pairs = demoPrompts.map((demo) => ({
    demo,
    prompt: prompts.find(({ path }) => path === demo.path) as Prompt,
  }))
  const signals: NewSignal[] = []
  for (const { demo, prompt } of pairs) {
    signals.push(...generateSignals(prompt, demo, await deployCanary(store, prompt, demo, now), now))
  }
  onStep(`Recording ${signals.length.toLocaleString('en')} signals`)
  await store.signals.import(batches(signals))
  return {
    secret,
    signingKey,
    signalCount: signals.length,
    prompts: await Promise.all(pairs.map(({ demo, prompt }) => withImpacts(store, demo, prompt, now))),
  }
}

const batchSize = 5_000

async function* batches(signals: NewSignal[]): AsyncGenerator<NewSignal[]> {
  const oldestFirst = signals.toSorted((a, b) => a.createdAt - b.createdAt)
  for (let i = 0; i < oldestFirst.length; i += batchSize) yield oldestFirst.slice(i, i + batchSize)
}

/** Computes the verdicts from the signals, like the service, instead of claiming the intended ones. */
async function withImpacts(store: Store, demo: DemoPrompt, prompt: Prompt, now: Instant): Promise<ShopPrompt> {
  const { impacts } = await impactOf(store, prompt, { page: '1', limit: 100 }, { at: now, isPast: false })
  const titles = new Map(landings(demo, now).map(({ at, change }) => [at, change.title]))
  const changes = impacts.map((impact) => ({ title: titles.get(impact.liveFrom) as string, impact }))
  return { publicId: prompt.publicId, name: prompt.name, changes }
}

/**
 * Creates an organisation with active, expiring and revoked keys, and declared segments. Returns the secret of an admin key, and
 * a signing key.
 */
async function createOrganisation(
  { store: { organisations, keys, segments }, vault }: Pick<SyncContext, 'store' | 'vault'>,
  now: Instant,
): Promise<{ organisation: Organisation; secret: string; signingKey: string }> {
  const createdAt = now - 53 * week
  const organisation = await organisations.create(newOrganisation('Acme', 'team', createdAt))
  const issue = (details: Omit<KeyDetails, 'organisationId'>) =>
    issueKey(keys, { organisationId: organisation.id, ...details }, operator, vault)

  const app = await issue({ name: 'Production app', role: 'ingest', createdAt, expiresAt: null })
  const contractor = await issue({
    name: 'Contractor',
    role: 'admin',
    createdAt: createdAt + week,
    expiresAt: null,
  })
  const notebook = await issue({
    name: 'Analytics notebook',
    role: 'standard',
    createdAt: now - 5 * week,
    expiresAt: now + 55 * day,
  })
  const website = await issue({ name: 'Website', role: 'signing', createdAt: now, expiresAt: null })
  const { secret } = await issue({ name: 'Demonstration', role: 'admin', createdAt: now, expiresAt: null })
  await keys.recordUses([
    { keyId: contractor.key.id, usedAt: now - 31 * week },
    { keyId: notebook.key.id, usedAt: now - 2 * day - 3 * hour },
    { keyId: app.key.id, usedAt: now - minute },
  ])
  await keys.revoke(contractor.key.id, now - 30 * week, operator)
  await segments.setForOrganisation(organisation.id, ['model', 'locale'], createdAt, operator)
  return { organisation, secret, signingKey: website.secret }
}

/** The part of the shop's own server that signs tokens, each for another answer and customer. */
export function createApplication({ signingKey, prompts: [asked] }: Shop) {
  if (asked === undefined) throw new Error('The shop has no prompts')
  const { publicId: prompt, changes } = asked
  const { sign } = tokens(signingKey)
  const version = changes[0]?.impact.entry.commitSha
  return {
    prompt,
    sign: () => sign({ prompt, version, subject: `demo-${randomUUID()}`, voter: randomUUID() }),
  }
}
