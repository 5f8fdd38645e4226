import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { day } from '../server/src/domain/time.ts'
import type { Random } from './random.ts'

// Sources of votes, real and simulated, to see what a verdict makes of them.

export interface Vote {
  at: number
  isPositive: boolean
  /** Whether the version after the change produced the output. */
  isNew: boolean
  /** The segment of the voter, where the source has segments. */
  segment: number
  voter: number
}

/** Draws a history: votes in the order of arrival, and how many of them arrived before the change. */
export type Source = (random: Random) => { votes: Vote[]; change: number }

export const votesPerDay = 150

/** A standard normal number. */
export function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

type RateAt = (vote: number, isNew: boolean) => number

/** Votes at regular times, whose rate `start` may draw for each history. */
export function steady(before: number, after: number, start: (random: Random) => RateAt): Source {
  return (random) => {
    const rateAt = start(random)
    const votes = Array.from({ length: before + after }, (_, i) => {
      const isNew = i >= before
      return vote(i, random() < rateAt(i, isNew), isNew)
    })
    return { votes, change: before }
  }
}

function vote(i: number, isPositive: boolean, isNew: boolean): Vote {
  return { at: Math.floor((i * day) / votesPerDay), isPositive, isNew, segment: 0, voter: i }
}

export function rates(from: number, to: number): () => RateAt {
  return () => (_, isNew) => (isNew ? to : from)
}

/** A rate that performs a random walk by this many points a day. */
export function walk(points: number, from = 0.85): (random: Random) => RateAt {
  return (random) => {
    let rate = from
    return () => {
      rate += (points / 100 / Math.sqrt(votesPerDay)) * normal(random)
      if (rate > 0.99) rate = 1.98 - rate
      if (rate < 0.01) rate = 0.02 - rate
      return rate
    }
  }
}

/** A rate that follows the days of the week. */
export function season(points: number, rate = 0.85): (random: Random) => RateAt {
  return (random) => {
    const phase = random()
    return (i) => rate + (points / 100) * Math.sin(2 * Math.PI * (i / votesPerDay / 7 + phase))
  }
}

/** Each voter casts several votes in a row, with an opinion of their own: votes of one voter correlate. */
export function voters(votesEach: number, correlation = 0.3, rate = 0.85): (random: Random) => RateAt {
  return (random) => {
    const size = 1 / correlation - 1
    let opinion = rate
    return (i) => {
      if (i % votesEach === 0) {
        const up = gamma(random, rate * size)
        opinion = up / (up + gamma(random, (1 - rate) * size))
      }
      return opinion
    }
  }
}

// Marsaglia and Tsang's method.
function gamma(random: Random, shape: number): number {
  if (shape < 1) return gamma(random, shape + 1) * random() ** (1 / shape)
  const d = shape - 1 / 3
  for (;;) {
    const x = normal(random)
    const v = (1 + x / Math.sqrt(9 * d)) ** 3
    if (v > 0 && Math.log(random()) < x ** 2 / 2 + d - d * v + d * Math.log(v)) return d * v
  }
}

/** The level on the scale of the model drifts by `drift` with every 20 votes. */
export function levels(drift: number, noise = 0): (random: Random) => RateAt {
  return (random) => {
    let level = 1.6 + 0.9 * random()
    let deviation = 0
    return (i) => {
      if (i % 20 === 0) {
        level = Math.max(0.3, Math.min(2.85, level + drift * normal(random)))
        deviation = noise * normal(random)
      }
      return Math.sin((level + deviation) / 2) ** 2
    }
  }
}

/** Now and then a different audience comes, votes differently for a while, and leaves. */
export function episodes(votesBetween: number, votesLong: number, size: number): (random: Random) => RateAt {
  return (random) => {
    const base = 1.6 + 0.8 * random()
    let left = 0
    let shift = 0
    return () => {
      if (left > 0) left--
      else {
        shift = 0
        if (random() < 1 / votesBetween) {
          left = Math.floor(votesLong * (0.5 + random()))
          shift = size * normal(random)
        }
      }
      return Math.sin(Math.max(0.1, Math.min(3, base + shift)) / 2) ** 2
    }
  }
}

/** Votes arrive in bursts of up to a few hundred an hour, and a burst has an audience of its own. */
export function bursts(before: number, after: number, size: number): Source {
  return (random) => {
    const votes: Vote[] = []
    let at = 0
    while (votes.length < before + after) {
      const level = 2 + size * normal(random)
      const length = Math.ceil(-60 * Math.log(1 - random()))
      at += Math.floor(-(day / 3) * Math.log(1 - random()))
      for (let i = 0; i < length && votes.length < before + after; i++) {
        at += Math.floor(-20_000 * Math.log(1 - random()))
        const isPositive = random() < Math.sin(level / 2) ** 2
        votes.push({ at, isPositive, isNew: votes.length >= before, segment: 0, voter: votes.length })
      }
    }
    return { votes, change: before }
  }
}

/** Votes on the old version still arrive after the change, `late` votes after the output on average. */
export function lateVotes(before: number, after: number, from: number, to: number, late: number): Source {
  return (random) => {
    const answers = Array.from({ length: before + after }, (_, i) => {
      const isNew = i >= before
      const arrival = i - late * Math.log(1 - random())
      return { arrival, isNew, isPositive: random() < (isNew ? to : from) }
    })
    answers.sort((a, b) => a.arrival - b.arrival)
    const votes = answers.map(({ arrival, isNew, isPositive }) => ({ ...vote(arrival, isPositive, isNew) }))
    return { votes, change: votes.findIndex(({ at }) => at >= Math.floor((before * day) / votesPerDay)) }
  }
}

/** From the change on, a share of the outputs comes from the new version. */
export function canary(before: number, after: number, from: number, to: number, share: number): Source {
  return (random) => {
    const votes = Array.from({ length: before + after }, (_, i) => {
      const isNew = i >= before && random() < share
      return vote(i, random() < (isNew ? to : from), isNew)
    })
    return { votes, change: before }
  }
}

/** Two segments with a rate each. With the change, the share of the first one falls or rises. */
export function audience(before: number, after: number, ofSegment: [number, number], shares: [number, number]): Source {
  return (random) => {
    const votes = Array.from({ length: before + after }, (_, i) => {
      const isNew = i >= before
      const segment = random() < shares[isNew ? 1 : 0] ? 0 : 1
      return { ...vote(i, random() < (ofSegment[segment] as number), isNew), segment }
    })
    return { votes, change: before }
  }
}

export interface Statement {
  id: number
  votes: Vote[]
}

const ownVotes = fileURLToPath(new URL('./real-votes/vtaiwan.csv', import.meta.url))

/**
 * The statements of a real conversation, each with its votes in the order of time. Reads the columns of real-votes/README.md, and the
 * votes.csv that Polis exports.
 */
export function readStatements(file = ownVotes, minVotes = 0): Statement[] {
  const [head = '', ...lines] = readFileSync(file, 'utf8').trim().split(/\r?\n/)
  const names = head.split(',')
  const isOwn = names.includes('second')
  const item = columnOf('item', 'comment-id')
  const voter = columnOf('voter', 'voter-id')
  const time = columnOf('second', 'timestamp')
  const value = columnOf('vote')
  const [items, voters] = [new Map<string, number>(), new Map<string, number>()]
  const statements = new Map<number, Vote[]>()
  for (const line of lines) {
    const cells = line.split(',')
    const vote = Number(cells[value])
    // Polis counts passes as votes of 0.
    if (vote !== 1 && vote !== -1) continue
    const id = numberOf(cells[item] ?? '', items)
    const votes = statements.get(id) ?? []
    statements.set(id, votes)
    const at = Number(cells[time]) * (isOwn ? 1000 : 1)
    votes.push({ at, isPositive: vote > 0, isNew: false, segment: 0, voter: numberOf(cells[voter] ?? '', voters) })
  }
  return [...statements]
    .filter(([, votes]) => votes.length >= minVotes)
    .map(([id, votes]) => ({ id, votes: votes.sort((a, b) => a.at - b.at) }))

  function columnOf(...possible: string[]): number {
    const column = names.findIndex((name) => possible.includes(name))
    if (column < 0) throw new Error(`${file} has no column ${possible.join(' or ')}: its first line is ${head}`)
    return column
  }
}

/** IDs are mostly numbers. Others are numbered in the order of appearance. */
function numberOf(id: string, known: Map<string, number>): number {
  if (/^\d{1,15}$/.test(id)) return Number(id)
  const number = known.get(id) ?? -1 - known.size
  known.set(id, number)
  return number
}

/** Places a change that never happened among real votes, with at least 40 on each side. */
export function fakeChange(votes: readonly Vote[]): Source {
  return (random) => {
    const change = 40 + Math.floor(random() * (votes.length - 80))
    return { votes: votes.map((vote, i) => ({ ...vote, isNew: i >= change })), change }
  }
}
