import { type Impact, impactOf } from '../domain/impact/impact.ts'
import type { Prompt } from '../domain/prompt.ts'
import type { NewSignal } from '../domain/signals/signal.ts'
import type { Store } from '../domain/store.ts'
import type { Instant } from '../domain/time.ts'
import type { SyncContext } from '../follow/sync-context.ts'
import type { DemoPrompt } from './change.ts'
import { makeHistory } from './history.ts'
import { makeOrganisation } from './organisation.ts'
import { productSearch } from './prompts/product-search.ts'
import { summariseTicket } from './prompts/summarise-ticket.ts'
import { supportReply } from './prompts/support-reply.ts'
import { signalsOf } from './signals.ts'
import { landings } from './timeline.ts'

/** A made-up shop, with all that it had to do with its prompts in a year. */
export interface Shop {
  /** Of a key that may do everything. */
  secret: string
  signalCount: number
  prompts: ShopPrompt[]
}

export interface ShopPrompt {
  publicId: string
  name: string
  /** Newest first. */
  changes: { title: string; impact: Impact }[]
}

const demoPrompts = [supportReply, summariseTicket, productSearch]

export async function makeShop(follow: SyncContext, now: Instant): Promise<Shop> {
  const { store } = follow
  const { organisation, secret } = await makeOrganisation(store, now)
  const prompts = await makeHistory(follow, organisation.id, demoPrompts, now)
  const pairs = demoPrompts.map((demo) => ({
    demo,
    prompt: prompts.find(({ path }) => path === demo.path) as Prompt,
  }))
  const signals = pairs.flatMap(({ demo, prompt }) => signalsOf(prompt, demo, now))
  await store.signals.import(portions(signals))
  return {
    secret,
    signalCount: signals.length,
    prompts: await Promise.all(pairs.map(({ demo, prompt }) => withImpacts(store, demo, prompt, now))),
  }
}

const portionSize = 5_000

async function* portions(signals: NewSignal[]): AsyncGenerator<NewSignal[]> {
  const inOrder = signals.toSorted((a, b) => a.createdAt - b.createdAt)
  for (let i = 0; i < inOrder.length; i += portionSize) yield inOrder.slice(i, i + portionSize)
}

/** What the signals say of the changes: not what these were meant to do. */
async function withImpacts(store: Store, demo: DemoPrompt, prompt: Prompt, now: Instant): Promise<ShopPrompt> {
  const { impacts } = await impactOf(store, prompt, { page: '1', limit: 100 }, now)
  const titles = new Map(landings(demo, now).map(({ at, change }) => [at, change.title]))
  const changes = impacts.map((impact) => ({ title: titles.get(impact.liveFrom) as string, impact }))
  return { publicId: prompt.publicId, name: prompt.name, changes }
}
