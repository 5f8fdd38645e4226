import { Agent } from 'node:http'
import { operator } from '../server/src/domain/access/audit.ts'
import type { Prompt } from '../server/src/domain/prompt.ts'
import { generateHookId } from '../server/src/domain/repositories/repository.ts'
import { removeOldSignals } from '../server/src/domain/signals/retention.ts'
import { day, hour, hourStart, isoTime, monthStart, nextMonthStart } from '../server/src/domain/time.ts'
import type { Account } from '../testing/account.ts'
import type { Fault, Outcome } from './fault.ts'
import { createAccountIn, type Service, startService } from './service.ts'
import { type Answer, ask, pause } from './voters.ts'

const minute = 60_000
// The months that the clock is in: those around a leap day.
const first = Date.UTC(2028, 0)
const leapDay = Date.UTC(2028, 1, 29)
const last = Date.UTC(2028, 3, 30)
// Just before something happens, which then happens under load.
const moment = 40
// The number of signals that were there before anybody voted.
const filling = -1

interface Vote {
  number: number
  account: Account
  keyed: boolean
  answer: Answer
}

interface Stored {
  id: number
  value: string
  created_at: string
  metadata: { number: number }
}

const jumps: Record<string, (now: number, random: () => number) => number> = {
  'a minute back': (now) => now - minute,
  'a minute forward': (now) => now + minute,
  "to a month's end": (now) => nextMonthStart(now) - moment,
  'into the month before': (now) => monthStart(now) - moment,
  'to the leap day': () => leapDay - moment,
  "to the leap day's end": () => leapDay + day - moment,
  'back over an hour': (now) => hourStart(now) - moment,
  'anywhere else': (_, random) => first + Math.floor(random() * (last - first)),
}

/** The clock jumps while signals are recorded, most of them for organisations that are at their limit. */
export const clock: Fault = {
  name: 'clock',
  title: "the clock jumping back, forward and across a month's end",
  engines: ['sqlite', 'postgres'],
  times: { full: 60, short: 8 },
  async run({ url, folder, times, random }) {
    let setTo = Date.UTC(2028, 1, 10, 9, 59, 59)
    let setAt = performance.now()
    const now = () => Math.floor(setTo + performance.now() - setAt)
    const service = await startService({ url, folder }, now)
    try {
      return await underLoad(service, times, random, now, (to) => {
        setTo = to
        setAt = performance.now()
      })
    } finally {
      await service.stop()
    }
  },
}

async function underLoad(
  service: Service,
  times: number,
  random: () => number,
  now: () => number,
  jump: (to: number) => void,
): Promise<Outcome> {
  const accounts = [
    await createAccountIn(service, 'business', now()),
    await createAccountIn(service, 'free', now()),
    await createAccountIn(service, 'free', now()),
  ]
  const [large, ...small] = accounts as [Account, ...Account[]]
  for (const account of small) await fill(service, account)
  const credentials = await newCredentials(service, large, now)
  const voting = startVoting(service.port, accounts, now)
  const names = Object.keys(jumps)
  try {
    for (let i = 0; i < times; i++) {
      await pause(100 + random() * 300)
      const leased = await leaseOfTheDead(service, large, now())
      // Each of them in turn, then by chance.
      const name = names[i < names.length ? i : Math.floor(random() * names.length)] as string
      const to = (jumps[name] as (typeof jumps)[string])(now(), random)
      jump(Math.min(Math.max(to, first), last))
      await credentials.check()
      await checkLease(service, leased, now())
    }
    await pause(200)
  } finally {
    await voting.stop()
  }
  const { votes, wrong } = voting
  if (wrong.length > 0) fail(`${wrong.length} answers that nothing allows, such as: ${wrong[0]}`)
  const figures = { stored: 0, refused: 0, 'months counted': 0 }
  for (const account of accounts) {
    const of = votes.filter((vote) => vote.account === account)
    const signals = await checkStored(service, account, of)
    figures['months counted'] += await checkMonths(service, account, signals, of)
    await checkPages(service, account, signals)
    await checkHours(service, account, signals)
    const refused = of.filter(({ answer }) => answer.status === 429).length
    figures.stored += of.length - refused
    figures.refused += refused
  }
  await checkRepeats(service, votes)
  // Signals are removed, then the clock goes back to before.
  jump(last)
  await removeOldSignals(service.store.signals, 20, now())
  jump(leapDay - 5 * day)
  await checkAfterRemoval(service, large, now())
  return { tried: `${times} jumps`, ...figures }
}

/** Brings an organisation near its limit, in each of the months. */
async function fill({ store }: Service, { organisationId, promptId: publicId, limit }: Account): Promise<void> {
  const prompt = (await store.prompts.find(organisationId, publicId)) as Prompt
  const metadata = `{"number":${filling}}`
  const signal = { organisationId, promptId: prompt.id, value: 'positive' as const, metadata }
  async function* portions() {
    for (let month = first; month < last; month = nextMonthStart(month)) {
      yield Array.from({ length: limit - 100 }, (_, i) => ({ ...signal, createdAt: month + i * 1_000 }))
    }
  }
  await store.signals.import(portions())
}

function fail(text: string): never {
  throw new Error(text)
}

const agent = new Agent({ keepAlive: true })

function startVoting(port: number, accounts: Account[], now: () => number) {
  const votes: Vote[] = []
  const wrong: string[] = []
  let next = 0
  let stopped = false

  async function vote(): Promise<void> {
    const number = next++
    const account = accounts[number % accounts.length] as Account
    const keyed = number % 2 === 0
    const answer = await send(port, account, number, keyed)
    const problem = problemOf(answer, account)
    if (problem !== null) wrong.push(`${problem} at ${isoTime(now())}: ${answer.status} ${answer.body}`)
    votes.push({ number, account, keyed, answer })
  }

  const voters = Array.from({ length: 12 }, async () => {
    while (!stopped) await vote()
  })
  return {
    votes,
    wrong,
    async stop() {
      stopped = true
      await Promise.all(voters)
    },
  }
}

function send(port: number, { key, promptId }: Account, number: number, keyed: boolean): Promise<Answer> {
  const body = `{"value":"${opinionOf(number)}","metadata":{"number":${number}}}`
  return ask(agent, port, 'POST', `/api/v1/prompts/${promptId}/signals`, key, body, keyed ? `vote-${number}` : null)
}

function opinionOf(number: number): string {
  return number % 7 === 0 ? 'negative' : 'positive'
}

/** What is wrong with an answer, whatever the clock says. */
function problemOf({ status, headers, body }: Answer, { limit }: Account): string | null {
  if (!(Number(headers['ratelimit-reset']) >= 1)) return 'RateLimit-Reset is not ahead'
  if (!(Number(headers['ratelimit-remaining']) >= 0)) return 'RateLimit-Remaining makes no sense'
  if (status === 201) return null
  if (status !== 429) return 'neither stored nor over the limit'
  const { error } = JSON.parse(body)
  if (!(Number(headers['retry-after']) >= 1)) return 'Retry-After is not ahead'
  if (error.limit !== limit || error.used !== limit) return 'refused though not at the limit'
  return monthStart(Date.parse(error.resets_at)) === Date.parse(error.resets_at) ? null : 'resets within a month'
}

async function read<T>(service: Service, { key }: Account, path: string): Promise<T> {
  const { status, body } = await ask(agent, service.port, 'GET', path, key)
  if (status !== 200) fail(`${path} was answered with ${status}: ${body}`)
  return JSON.parse(body)
}

/** Every 201 is stored, once, as it was answered; and nothing else. */
async function checkStored(service: Service, account: Account, votes: Vote[]): Promise<Stored[]> {
  const path = `/api/v1/prompts/${account.promptId}/signals/export?format=ndjson`
  const { body } = await ask(agent, service.port, 'GET', path, account.key)
  const signals: Stored[] = body.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
  const byNumber = Map.groupBy(signals, ({ metadata }) => metadata.number)
  for (const { number, answer } of votes) {
    const stored = byNumber.get(number) ?? []
    if (stored.length !== (answer.status === 201 ? 1 : 0)) fail(`vote ${number} is stored ${stored.length} times`)
    byNumber.delete(number)
    if (stored[0] === undefined) continue
    const { id, value, created_at } = stored[0]
    const there = JSON.stringify({ data: { id, value, created_at } })
    if (there !== answer.body) fail(`vote ${number} was answered ${answer.body} and is stored as ${there}`)
  }
  byNumber.delete(filling)
  if (byNumber.size > 0) fail(`${byNumber.size} votes are stored that nobody cast`)
  return signals
}

/** The count of each month is that of its signals, within the limit, and at it where somebody was refused. */
async function checkMonths(service: Service, account: Account, signals: Stored[], votes: Vote[]): Promise<number> {
  const counted = await service.store.organisations.usage(account.organisationId, 0)
  const stored = Map.groupBy(signals, ({ created_at }) => monthStart(Date.parse(created_at)))
  for (const month of new Set([...counted.keys(), ...stored.keys()])) {
    const [used = 0, there = 0] = [counted.get(month), stored.get(month)?.length]
    if (used !== there) fail(`${used} counted and ${there} stored in ${isoTime(month)}`)
    if (used > account.limit) fail(`${used} recorded in ${isoTime(month)} with a limit of ${account.limit}`)
  }
  for (const { answer } of votes.filter(({ answer }) => answer.status === 429)) {
    const month = monthStart(Date.parse(JSON.parse(answer.body).error.resets_at) - 1)
    if (counted.get(month) !== account.limit) fail(`refused in ${isoTime(month)}, which is not full: ${answer.body}`)
  }
  return stored.size
}

/** Pages together are all signals, newest first, whatever they are asked for. */
async function checkPages(service: Service, account: Account, signals: Stored[]): Promise<void> {
  const newestFirst = signals.toSorted((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at) || b.id - a.id)
  const middle = newestFirst[newestFirst.length >> 1]?.created_at ?? isoTime(leapDay)
  const filters: [string, (signal: Stored) => boolean][] = [
    ['', () => true],
    ['&value=negative', ({ value }) => value === 'negative'],
    [`&since=${middle}`, ({ created_at }) => created_at >= middle],
    [`&until=${middle}`, ({ created_at }) => created_at < middle],
    [`&since=${isoTime(leapDay)}`, ({ created_at }) => created_at >= isoTime(leapDay)],
  ]
  for (const [query, fits] of filters) {
    const expected = newestFirst.filter(fits).map(({ id }) => id)
    // Not all pages of a large organisation: the first, the last and some between.
    const pages = Math.ceil(expected.length / 100)
    for (let page = 1; page <= pages; page += page < 20 || page > pages - 20 ? 1 : 17) {
      const path = `/api/v1/prompts/${account.promptId}/signals?limit=100&page=${page}${query}`
      const { data, pagination } = await read<{ data: Stored[]; pagination: { total_count: number } }>(
        service,
        account,
        path,
      )
      if (pagination.total_count !== expected.length) fail(`${path} counts ${pagination.total_count}`)
      const there = data.map(({ id }) => id).join()
      if (there !== expected.slice((page - 1) * 100, page * 100).join()) fail(`${path} has others than it should`)
    }
  }
}

/** The sums of all hours are those of the signals in them. */
async function checkHours(service: Service, account: Account, signals: Stored[]): Promise<void> {
  const query = `from=${isoTime(first - day)}&to=${isoTime(last + day)}&interval=hour`
  const path = `/api/v1/prompts/${account.promptId}/signals/summary?${query}`
  const { data } = await read<{ data: { start: string; positive: number; negative: number }[] }>(service, account, path)
  const stored = Map.groupBy(signals, ({ created_at }) => isoTime(hourStart(Date.parse(created_at))))
  for (const { start, positive, negative } of data) {
    const there = stored.get(start) ?? []
    const [yes, no] = ['positive', 'negative'].map((value) => there.filter((signal) => signal.value === value).length)
    if (positive !== yes || negative !== no) fail(`${positive} and ${negative} in ${start}, stored ${yes} and ${no}`)
    stored.delete(start)
  }
  if (stored.size > 0) fail(`no sum for ${[...stored.keys()].join()}`)
}

/** Requests that are repeated get the first answer, whenever that was. */
async function checkRepeats(service: Service, votes: Vote[]): Promise<void> {
  const repeatable = votes.filter(({ keyed, answer }) => keyed && answer.status === 201)
  for (const { number, account, answer } of repeatable.filter((_, i) => i % Math.ceil(repeatable.length / 200) === 0)) {
    const { status, body } = await send(service.port, account, number, true)
    if (status !== 201 || body !== answer.body) fail(`vote ${number} was answered ${answer.body}, repeated: ${body}`)
  }
}

interface Credential {
  header: Record<string, string>
  until: number
}

/** Keys that expire, one that is rotated and a session: each works before its end and not from then on, wherever the clock goes. */
async function newCredentials(service: Service, account: Account, now: () => number) {
  const path = '/api/v1/keys'
  const change = async (path: string, body: object) => {
    const answer = await ask(agent, service.port, 'POST', path, account.key, JSON.stringify(body))
    if (answer.status !== 201) fail(`${path} was answered with ${answer.status}: ${answer.body}`)
    return answer
  }
  const bearer = (key: string, until: number) => ({ header: { authorization: `Bearer ${key}` }, until })
  const credentials: Credential[] = []
  for (const until of [leapDay, leapDay + day, Date.UTC(2028, 3)]) {
    const { data } = JSON.parse((await change(path, { expires_at: isoTime(until) })).body)
    credentials.push(bearer(data.key, until))
  }
  const { data: old } = JSON.parse((await change(path, { name: 'old' })).body)
  const before = now()
  await change(`${path}/${old.id}/rotate`, { overlap_hours: 24 })
  credentials.push(bearer(old.key, before + 24 * hour))
  const signedIn = await change('/api/v1/session', {})
  const cookie = String(signedIn.headers['set-cookie']).split(';')[0] as string
  credentials.push({ header: { cookie }, until: Date.parse(JSON.parse(signedIn.body).data.expires_at) })
  return {
    async check() {
      for (const { header, until } of credentials) {
        const asked = now()
        const { status } = await fetch(`http://127.0.0.1:${service.port}/api/v1/usage`, { headers: header })
        const answered = now()
        // Within the second around its end nobody can tell.
        if (answered >= until - 1_000 && asked < until + 1_000) continue
        if (status !== (answered < until ? 200 : 401)) {
          fail(`what works until ${isoTime(until)} was answered with ${status} at ${isoTime(answered)}`)
        }
      }
    },
  }
}

/** A repository that somebody worked on who is no more. */
async function leaseOfTheDead({ store }: Service, { organisationId }: Account, now: number): Promise<number> {
  const url = `https://forge.example/${generateHookId()}.git`
  const facts = { forge: 'github' as const, path: '*.md', similarity: 50, sealedToken: null, sealedSecret: '' }
  const repository = { organisationId, url, ...facts, hookId: generateHookId(), createdAt: now }
  const lease = { owner: 'somebody', until: now + 10_000 }
  return (
    (await store.repositories.connect(repository, operator, lease))?.id ?? fail('a new repository is not connected')
  )
}

/** Others may take it over at once or after little more than a minute, however far the clock went back; and only one of them. */
async function checkLease({ store }: Service, id: number, now: number): Promise<void> {
  const soon = now + 70_000
  const due = await Promise.all([now, soon, soon + 2 * hour].map((at) => store.repositories.due(at)))
  if (!due.flat().some((repository) => repository.id === id)) fail(`a repository is stuck at ${isoTime(now)}`)
  const take = (owner: string, at: number) => store.repositories.lease(id, owner, at, at + 10_000)
  const atOnce = await take('another', now)
  const lease = atOnce ?? (await take('another', soon)) ?? fail(`a lease is stuck at ${isoTime(now)}`)
  if ((await take('a third', atOnce === null ? soon : now)) !== null) fail('a lease is given twice')
  await store.repositories.disconnect(lease.repository, now, operator)
}

/** What is recorded in a time whose signals are removed is counted as ever. */
async function checkAfterRemoval(service: Service, account: Account, now: number): Promise<void> {
  const used = async () =>
    (await service.store.organisations.usage(account.organisationId, 0)).get(monthStart(now)) ?? 0
  const total = async () => {
    const query = `from=${isoTime(hourStart(now))}&to=${isoTime(hourStart(now) + hour)}&interval=hour`
    const path = `/api/v1/prompts/${account.promptId}/signals/summary?${query}`
    return (await read<{ total: { positive: number } }>(service, account, path)).total.positive
  }
  const before = [await used(), await total()]
  const { status, body } = await send(service.port, account, 10_000_001, true)
  if (status !== 201) fail(`a signal of ${isoTime(now)}, where older ones are removed, was answered ${status} ${body}`)
  const after = [await used(), await total()]
  if (after.some((count, i) => count !== (before[i] as number) + 1)) fail(`counted ${before} before, ${after} after`)
}
