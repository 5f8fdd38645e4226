import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { makeRepository } from '../testing/sample-repository.ts'
import { connect, newOrganisation, type Place } from './connected.ts'
import { median } from './median.ts'

const run = promisify(execFile)
const sizes = [1_000, 5_000, 20_000]
const rounds = 3

export interface Backfill {
  commits: number
  /** Seconds for git alone. */
  git: number
  seconds: Record<Place['name'], number>
  /** Megabytes. */
  peak: Record<Place['name'], number>
}

/** The first sync of repositories with 100 prompts, from the start of `repo connect` to its end, and what git alone takes. */
export async function measureBackfill(places: Place[], folder: string): Promise<Backfill[]> {
  const results: Backfill[] = []
  for (const commits of sizes) {
    const remote = join(folder, `backfill-${commits}.git`)
    await makeRepository(remote, commits, 100)
    const git: number[] = []
    const connected = places.map((place) => ({ place, seconds: [] as number[], peaks: [] as number[] }))
    for (let round = 0; round < rounds; round++) {
      git.push(await gitAlone(remote, folder))
      for (const { place, seconds, peaks } of connected) {
        const measured = await connect(place, await newOrganisation(place), remote)
        if (measured.value.entries < commits) throw new Error(`only ${measured.value.entries} entries`)
        seconds.push(measured.seconds)
        peaks.push(measured.peak)
      }
    }
    const each = (pick: (of: (typeof connected)[0]) => number) =>
      Object.fromEntries(connected.map((of) => [of.place.name, pick(of)])) as Record<Place['name'], number>
    results.push({
      commits,
      git: median(git),
      seconds: each((of) => median(of.seconds)),
      peak: each((of) => Math.max(...of.peaks)),
    })
  }
  return results
}

/** The least that anybody has to do: bring the repository here, read its history once. */
async function gitAlone(remote: string, folder: string): Promise<number> {
  const target = await mkdtemp(join(folder, 'alone-'))
  const startedAt = performance.now()
  // As from another machine: within one, git would only link the files.
  await run('git', ['clone', '--quiet', '--bare', '--no-local', remote, target])
  const log = ['log', '--raw', '--first-parent', '--diff-merges=first-parent', '--format=fuller', '--output=/dev/null']
  await run('git', ['--git-dir', target, ...log, 'main', '--', ':(glob)prompts/**/*.md'])
  const seconds = (performance.now() - startedAt) / 1_000
  await rm(target, { recursive: true })
  return seconds
}

export function reportBackfill(results: Backfill[]): string[] {
  return [
    '| commits, with 100 prompts | git alone s | SQLite s | of git | PostgreSQL s | of git | peak MB, SQLite | peak MB, PostgreSQL |',
    '|---|---:|---:|---:|---:|---:|---:|---:|',
    ...results.map(({ commits, git, seconds, peak }) => {
      const times = [seconds.sqlite, seconds.postgres].map((time) => `${time.toFixed(1)} | ${(time / git).toFixed(1)}`)
      const peaks = [peak.sqlite, peak.postgres].map((peak) => peak.toFixed(0))
      return `| ${commits} | ${[git.toFixed(1), ...times, ...peaks].join(' | ')} |`
    }),
  ]
}
