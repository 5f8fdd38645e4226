import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { generateRepository } from '../testing/sample-repository.ts'
import { connectRepository, createOwner, type Installation } from './installation.ts'
import { median } from './statistics.ts'

const run = promisify(execFile)
const commitCounts = [1_000, 5_000, 20_000]
const rounds = 3

export interface Backfill {
  commits: number
  /** Seconds that git alone takes. */
  git: number
  seconds: Record<Installation['engine'], number>
  /** Peak memory in megabytes. */
  peak: Record<Installation['engine'], number>
}

/** The first sync of repositories with 100 prompts: the run time of `repo connect`, and of git alone for the same history. */
export async function measureBackfill(installations: Installation[], folder: string): Promise<Backfill[]> {
  const results: Backfill[] = []
  for (const commits of commitCounts) {
    const remote = join(folder, `backfill-${commits}.git`)
    await generateRepository(remote, commits, 100)
    const git: number[] = []
    const measured = installations.map((installation) => ({
      installation,
      seconds: [] as number[],
      peaks: [] as number[],
    }))
    for (let round = 0; round < rounds; round++) {
      git.push(await gitAlone(remote, folder))
      for (const { installation, seconds, peaks } of measured) {
        const sync = await connectRepository(installation, await createOwner(installation), remote)
        if (sync.value.entries < commits) {
          throw new Error(`backfill stored ${sync.value.entries} entries, expected at least ${commits}`)
        }
        seconds.push(sync.seconds)
        peaks.push(sync.peak)
      }
    }
    const each = (pick: (of: (typeof measured)[0]) => number) =>
      Object.fromEntries(measured.map((of) => [of.installation.engine, pick(of)])) as Backfill['seconds']
    results.push({
      commits,
      git: median(git),
      seconds: each((of) => median(of.seconds)),
      peak: each((of) => Math.max(...of.peaks)),
    })
  }
  return results
}

/** The minimum any implementation has to do: clone the repository and read its history once. */
async function gitAlone(remote: string, folder: string): Promise<number> {
  const target = await mkdtemp(join(folder, 'alone-'))
  const startedAt = performance.now()
  // --no-local copies objects as from another machine; otherwise git would only hard-link the files.
  await run('git', ['clone', '--quiet', '--bare', '--no-local', remote, target])
  const log = ['log', '--raw', '--first-parent', '--diff-merges=first-parent', '--format=fuller', '--output=/dev/null']
  await run('git', ['--git-dir', target, ...log, 'main', '--', ':(glob)prompts/**/*.md'])
  const seconds = (performance.now() - startedAt) / 1_000
  await rm(target, { recursive: true })
  return seconds
}

export function reportBackfill(results: Backfill[]): string[] {
  return [
    '| commits, 100 prompts | git alone, s | SQLite, s | vs git | PostgreSQL, s | vs git | SQLite peak, MB | PostgreSQL peak, MB |',
    '|---|---:|---:|---:|---:|---:|---:|---:|',
    ...results.map(({ commits, git, seconds, peak }) => {
      const times = [seconds.sqlite, seconds.postgres].map((time) => `${time.toFixed(1)} | ${(time / git).toFixed(1)}`)
      const peaks = [peak.sqlite, peak.postgres].map((megabytes) => megabytes.toFixed(0))
      return `| ${commits} | ${[git.toFixed(1), ...times, ...peaks].join(' | ')} |`
    }),
  ]
}
