import type { PlanLimits } from '../access/plan.ts'
import type { Repository } from '../repositories/repository.ts'
import type { Store } from '../store.ts'
import { type Instant, monthStart, nextMonthStart, weekStart } from '../time.ts'
import { quietUntil } from '../triage.ts'
import { explainTrial } from '../trials/explain-trial.ts'
import { type Alert, maxAlerts } from './alert.ts'
import { composeRegressionMessage, composeShiftMessage, composeTrialMessage, titleOf } from './compose.ts'
import { generateDeliveryId } from './delivery.ts'
import type { Digest, DigestStores } from './digest.ts'
import type { Message, RegressionMessage, RepositoryMessage, TrialMessage } from './message.ts'
import type { DecidedDelivery, Notice, NoticedDelivery, NoticedRegression } from './notice.ts'
import { isReportedOnPull, opensIssues, proposesItself } from './pull-comment.ts'
import { fallTime, isSameFall, maxFallAgeMs, monthName } from './scans.ts'
import {
  hearsOf,
  type Listener,
  pullListener,
  type QueuedTelling,
  type TellableRegression,
  type Telling,
  tellOfDigest,
  tellOfLimit,
  tellOfRegressions,
  tellOfRepository,
  tellOfShift,
  tellOfTrial,
} from './telling.ts'

type TellingStores = DigestStores &
  Pick<Store, 'alerts' | 'notices' | 'organisations' | 'repositories' | 'facts' | 'trials'>

/** Decides about one listener, and says it. */
interface Notifier {
  decide(listener: Listener, earlier: NoticedDelivery[]): Telling
  /** Null if there is nothing left to say. */
  compose(queued: QueuedTelling, listener: Listener, earlier: NoticedDelivery[]): Message | null | Promise<Message>
  /** Whether the pull request hears of it, too. */
  tellsPull: boolean
}

interface Facts {
  stores: TellingStores
  notice: Notice
  organisation: Message['organisation']
  planLimits: PlanLimits
  now: Instant
}

/** Decides whom to tell about a notice that is due, and queues the messages. False if the notice changed meanwhile: then it is due again. */
export async function tellNotice(
  stores: TellingStores,
  notice: Notice,
  planLimits: PlanLimits,
  now: Instant,
): Promise<boolean> {
  const { organisationId } = notice
  const [alerts, organisation] = await Promise.all([
    stores.alerts.list(organisationId),
    stores.organisations.find(organisationId),
  ])
  const active = alerts.filter(({ disabledAt }) => disabledAt === null).slice(0, maxAlerts)
  const named = { id: organisationId, name: organisation?.name ?? '' }
  const notifier = await openNotifier({ stores, notice, organisation: named, planLimits, now })
  const earlier = Map.groupBy(await stores.notices.deliveries(notice, now), ({ alertId }) => alertId)
  const listeners: { alert: Alert | null; listener: Listener }[] = active.map((alert) => ({ alert, listener: alert }))
  if (notifier.tellsPull) listeners.push({ alert: null, listener: pullListener })
  const dueTimes: Instant[] = []
  const deliveries: DecidedDelivery[] = []
  for (const { alert, listener } of listeners) {
    const alertId = alert?.id ?? null
    const before = earlier.get(alertId) ?? []
    const { cancel, queue, dueAt } = notifier.decide(listener, before)
    if (dueAt !== null) dueTimes.push(dueAt)
    const message = queue === null ? null : await notifier.compose(queue, listener, before)
    if (cancel === null && message === null) continue
    const { event, repeat, unsent } = queue ?? { event: 'regression.opened', repeat: 0, unsent: null }
    const delivery = { publicId: generateDeliveryId(), alertId, event, round: notice.round, repeat, unsent }
    deliveries.push({ cancel, queue: message === null ? null : { ...delivery, message } })
  }
  const dueAt = dueTimes.length === 0 ? null : Math.min(...dueTimes)
  return stores.notices.decide(notice, { deliveries, dueAt }, now)
}

function openNotifier(facts: Facts): Promise<Notifier> {
  switch (facts.notice.kind) {
    case 'regression':
      return notifierOfRegressions(facts)
    case 'repository':
      return notifierOfRepository(facts)
    case 'shift':
      return notifierOfShift(facts)
    case 'limit':
      return notifierOfLimit(facts)
    case 'trial':
      return notifierOfTrial(facts)
    case 'digest':
      return notifierOfDigest(facts)
  }
}

async function notifierOfRegressions({ stores, notice, organisation, now }: Facts): Promise<Notifier> {
  const regressions = await withTrials(stores, notice, await stores.notices.regressions(notice))
  const change = regressions.find((regression) => regression.change !== null)?.change ?? null
  const repositoryId = change?.repositoryId ?? null
  const repository = repositoryId === null ? null : await stores.repositories.find(repositoryId)
  const title = (await pullTitle(stores, repository, change?.prNumber ?? null)) ?? titleOf(change?.message)
  const tellable = regressions.map((regression) => toTellable(regression, now))
  return {
    tellsPull: repository !== null && [isReportedOnPull, proposesItself, opensIssues].some((isOn) => isOn(repository)),
    decide: (listener, earlier) => tellOfRegressions(tellable, listener, earlier, notice.round, now),
    compose({ event, ids }, _listener, earlier) {
      const named = new Set(ids)
      const about = regressions.filter(({ id }) => named.has(id))
      const told = { event, at: now, organisation, title } as Parameters<typeof composeRegressionMessage>[2]
      const before = earlier.findLast(({ message }) => 'dedupKey' in message)?.message ?? null
      return composeRegressionMessage(notice, about, told, before as RegressionMessage | null)
    },
  }
}

const maxTried = 10

/** Says what the trial of the change found, beside the verdict on the largest losses. */
async function withTrials(
  { trials }: TellingStores,
  { organisationId }: Notice,
  regressions: NoticedRegression[],
): Promise<NoticedRegression[]> {
  return Promise.all(
    regressions.map(async (regression, i) => {
      const { change, promptId, state, explanation } = regression
      if (change === null || state !== 'open' || i >= maxTried) return regression
      const found = await trials.ofChanges({ id: promptId, organisationId }, [change])
      const { commitSha, repositoryId } = change
      const trial = found.find((each) => each.commitSha === commitSha || each.repositoryId === repositoryId)
      return trial === undefined ? regression : { ...regression, explanation: `${explanation} ${explainTrial(trial)}` }
    }),
  )
}

function toTellable(regression: NoticedRegression, now: Instant): TellableRegression {
  const { repairedAt, withdrawnAt, dismissedAt, change, isPromptDeleted } = regression
  return {
    ...regression,
    closedAt: withdrawnAt ?? repairedAt ?? dismissedAt,
    // One whose change is gone is still told as withdrawn, which is what the judge makes of it.
    isGone: isPromptDeleted || (change === null && regression.state === 'open'),
    quietUntil: quietUntil(regression, now),
  }
}

async function pullTitle(
  { facts }: TellingStores,
  repository: Repository | null,
  number: number | null,
): Promise<string | null> {
  if (repository === null || number === null) return null
  const [pull] = await facts.pulls(repository, [number])
  return titleOf(pull?.title)
}

async function notifierOfRepository({ stores, notice, organisation, now }: Facts): Promise<Notifier> {
  const { organisationId, subject, openedAt, endedAt, state, round } = notice
  const found = await stores.repositories.findByHook(subject)
  const repository = found?.organisationId === organisationId ? found : null
  const isConnected = repository !== null && repository.disconnectedAt === null
  const situation = { isFailing: state === 'open', openedAt, endedAt, isConnected }
  return {
    tellsPull: false,
    decide: (listener, earlier) => tellOfRepository(situation, listener, earlier, round, now),
    compose({ event }, _listener, earlier) {
      const before = earlier.at(-1)?.message as RepositoryMessage | undefined
      const about = repository === null ? before?.repository : { id: repository.id, url: repository.url }
      if (about === undefined) return null
      const error = event === 'repository.failing' ? (repository?.lastError ?? null) : null
      return {
        event: event as RepositoryMessage['event'],
        at: now,
        organisation,
        repository: about,
        error,
        since: openedAt,
      }
    },
  }
}

async function notifierOfShift({ stores, notice, organisation, now }: Facts): Promise<Notifier> {
  const { organisationId, openedAt, subject } = notice
  const time = fallTime(subject)
  const all = await stores.notices.unexplainedFalls(organisationId, now - maxFallAgeMs)
  // It is told once, so there is nothing to repeat: while a person takes care of it, it is not told at all.
  const falls = all.filter((fall) => isSameFall(time, fall.between) && quietUntil(fall, now) === null)
  return {
    tellsPull: false,
    decide: (listener, earlier) => tellOfShift({ openedAt, falls }, listener, earlier, now),
    compose: (_queued, listener) =>
      composeShiftMessage(
        falls.filter((fall) => hearsOf(listener, fall)),
        now,
        organisation,
      ),
  }
}

async function notifierOfLimit({ stores, notice, organisation, planLimits, now }: Facts): Promise<Notifier> {
  const { organisationId, openedAt, subject } = notice
  const month = monthStart(openedAt)
  const [owner, usage] = await Promise.all([
    stores.organisations.find(organisationId),
    stores.organisations.usage(organisationId, month),
  ])
  const event = subject.endsWith('/reached') ? 'limit.reached' : 'limit.near'
  const limit = owner === null ? null : planLimits[owner.plan]
  return {
    tellsPull: false,
    decide: (listener, earlier) => tellOfLimit(event, openedAt, listener, earlier),
    compose: () => {
      // The plan was changed meanwhile.
      if (limit === null) return null
      const used = usage.get(month) ?? 0
      return { event, at: now, organisation, month: monthName(month), limit, used, resetsAt: nextMonthStart(month) }
    },
  }
}

async function notifierOfTrial({ stores, notice, organisation, now }: Facts): Promise<Notifier> {
  const { organisationId, openedAt, endedAt, subject } = notice
  const [id = '', name] = subject.split('/')
  const trial = await stores.trials.find(organisationId, id)
  const promptIds = trial?.prompts.map(({ prompt }) => prompt.id) ?? []
  const prompts = await stores.prompts.withIds(organisationId, promptIds)
  const repository = trial === null ? null : await stores.repositories.find(trial.repositoryId)
  const pulls =
    trial === null || trial.prNumber === null || repository === null
      ? []
      : await stores.facts.pulls(repository, [trial.prNumber])
  const event = `trial.${name}` as TrialMessage['event']
  const hasPull = trial !== null && trial.prNumber !== null
  return {
    tellsPull: hasPull && repository !== null && isReportedOnPull(repository),
    decide: (listener, earlier) => tellOfTrial(event, { openedAt, endedAt, prompts }, listener, earlier, now),
    compose({ event }) {
      const told = event as TrialMessage['event']
      return trial === null ? null : composeTrialMessage(told, trial, pulls[0]?.url ?? null, organisation, now)
    },
  }
}

async function notifierOfDigest({ stores, notice, organisation, now }: Facts): Promise<Notifier> {
  const { organisationId, openedAt } = notice
  let collected: Promise<Digest> | null = null
  return {
    tellsPull: false,
    decide: (listener, earlier) => tellOfDigest(openedAt, listener, earlier, now),
    async compose(_queued, listener) {
      const { collectDigest, composeDigest } = await import('./digest.ts')
      // Once for all alerts, and not at all if each of them has its digest.
      collected ??= collectDigest(stores, organisationId, weekStart(openedAt))
      return composeDigest(await collected, listener, organisation, now)
    },
  }
}
