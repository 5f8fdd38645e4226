import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { noTests, type Outcome, outcomePrefix } from './reporter.ts'

/** Test files that leave nothing behind in their process. Those for `npm run test:fast` need no other process. */
export const fastPatterns = [
  'server/test/{domain,store,http,forges,project}/*.test.ts',
  'client/test/{errors,pages,resources}.test.ts',
]
export const sharedPatterns = [
  ...fastPatterns,
  'server/test/{adapters,alerts,cli,following,mcp,net,process,proposals}/*.test.ts',
]

export function startsGit(file: string): boolean {
  const helpers = /testing\/(scenario|operations|trials|git-repository)\.ts/
  return file.includes('/following/') || helpers.test(readFileSync(file, 'utf8'))
}

/** Measures what is allocated, and collects all garbage for it. */
const budgets = /\/budgets\.test\.ts$/
/** Files that read the same databases, which are filled once for each process. */
const archives = /\/cli\/(archive|backup|import-rules)\.test\.ts$/
/** Files that create their databases on a server of their own, and so all of the process. */
const doctors = /\/cli\/doctor(-postgres)?\.test\.ts$/

/** Divides files among processes, because loading our modules takes longer than most files. The longest are first. */
export function divideShared(files: string[]): string[][] {
  const groups = Object.groupBy(files, kindOf)
  const { archive = [], doctor = [], alone = [], service = [], git = [], command = [], other = [] } = groups
  return [
    archive,
    ...alone.map((file) => [file]),
    ...divide(service, 3),
    doctor,
    // Starting git copies the page tables of the process, which takes longer the more files it has run.
    ...divide(git, Math.ceil(git.length / 5)),
    // Each process starts another one that runs its commands.
    ...divide(command, 5),
    ...divide(other, 4),
  ]
}

function kindOf(file: string): 'archive' | 'doctor' | 'alone' | 'service' | 'git' | 'command' | 'other' {
  if (archives.test(file)) return 'archive'
  if (doctors.test(file)) return 'doctor'
  if (budgets.test(file) || isSlow(file)) return 'alone'
  if (file.includes('/process/')) return 'service'
  if (file.includes('/cli/')) return 'command'
  return startsGit(file) ? 'git' : 'other'
}

/** Divides files among so many processes, each with about the same amount of code. */
export function divide(files: string[], count = 3): string[][] {
  const shares = Array.from({ length: count }, () => ({ bytes: 0, files: [] as string[] }))
  const sized = files.map((file) => ({ file, bytes: statSync(file).size }))
  for (const { file, bytes } of sized.sort((a, b) => b.bytes - a.bytes)) {
    const smallest = shares.reduce((a, b) => (a.bytes <= b.bytes ? a : b))
    smallest.files.push(file)
    smallest.bytes += bytes
  }
  return shares.map((share) => share.files)
}

// Only a test that hangs takes this long, also with a second run beside it.
const timeoutMs = 900_000
const shownFiles = 10
/** A file that takes more says why in a comment that starts with `// Slow:`. */
const reasonNeededSeconds = 20

interface RunOptions {
  /** How many processes run at a time. */
  atOnce: number
  /** Prints only what failed. */
  isQuiet?: boolean
}

/** Runs each job, the test files of one process, in this order. Prints one report, and returns whether all passed. */
export async function runJobs(jobs: string[][], { atOnce, isQuiet = false }: RunOptions): Promise<boolean> {
  const startedAt = performance.now()
  const total = noTests()
  const failures: string[] = []
  const waiting = jobs.filter((files) => files.length > 0)
  async function work(): Promise<void> {
    for (let files = waiting.shift(); files !== undefined; files = waiting.shift()) {
      const { report, failure, outcome } = await runJob(files)
      if (!isQuiet) process.stdout.write(report)
      if (failure !== '') failures.push(failure)
      add(total, outcome)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  process.stdout.write(`${failures.join('')}${slowest(total.seconds)}${skipped(total.skipped)}`)
  process.stdout.write(
    `${total.passed} passed, ${total.failed} failed, in ${Math.floor(seconds / 60)} min ${seconds % 60} s\n`,
  )
  return failures.length === 0
}

interface JobResult {
  report: string
  /** Empty if all tests passed. */
  failure: string
  outcome: Outcome
}

async function runJob(files: string[]): Promise<JobResult> {
  const args = [
    '--import=./testing/sent-statements.ts',
    '--test',
    '--test-isolation=none',
    `--test-timeout=${timeoutMs}`,
    '--test-reporter=./testing/reporter.ts',
  ]
  const child = spawn(process.execPath, [...args, ...files], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [printed, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  const [output = '', json] = printed.split(outcomePrefix)
  const outcome: Outcome = json === undefined ? noTests() : JSON.parse(json)
  // Tests that are declared by a function of another file belong to the one that calls it.
  const [only = ''] = files
  if (files.length === 1) outcome.seconds = { [only]: sumOf(outcome.seconds) }
  // Repeated at the end, where people look for them.
  const [report = '', failing] = output.split('\n✖ failing tests:\n')
  if (code === 0 && json !== undefined) return { report, failure: '', outcome }
  const reason = failing ?? `ended with ${signal ?? `exit code ${code}`} before its last test\n`
  return { report, failure: `\n✖ in ${files.length === 1 ? files[0] : `${files.length} files`}:\n${reason}`, outcome }
}

function add(total: Outcome, { passed, failed, skipped, seconds }: Outcome): void {
  total.passed += passed
  total.failed += failed
  for (const [reason, count] of Object.entries(skipped)) total.skipped[reason] = (total.skipped[reason] ?? 0) + count
  Object.assign(total.seconds, seconds)
}

function slowest(seconds: Record<string, number>): string {
  const all = Object.entries(seconds).sort(([, a], [, b]) => b - a)
  const rows = all.slice(0, shownFiles).map(([file, of]) => {
    const note =
      of > reasonNeededSeconds && !isSlow(file)
        ? `  over ${reasonNeededSeconds} s: make it faster, or say why with "// Slow: …"`
        : ''
    return `${of.toFixed(1).padStart(6)} s  ${relative(process.cwd(), file)}${note}\n`
  })
  return `\nProcessor time: ${sumOf(seconds).toFixed(0)} s in ${all.length} files. The slowest:\n${rows.join('')}`
}

function sumOf(seconds: Record<string, number>): number {
  return Object.values(seconds).reduce((sum, of) => sum + of, 0)
}

/** Whether a file says why it is slow. */
export function isSlow(file: string): boolean {
  return readFileSync(file, 'utf8').includes('\n// Slow: ')
}

function skipped(counts: Record<string, number>): string {
  const lines = Object.entries(counts).map(([reason, n]) => `skipped ${n} ${n === 1 ? 'test' : 'tests'}: ${reason}\n`)
  return lines.join('')
}
