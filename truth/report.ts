import { isMet, precision, recall, requiredShare, type Tally } from './tally.ts'

export interface Report {
  clone: string
  branch: string
  tip: string
  forge: string
  path: string
  commits: number
  prompts: number
  entries: number
  backfillSeconds: number
  seconds: number
  notes: string[]
  classes: Tally[]
}

/** Whether every class reaches the required share and nothing is invented. */
export function isTrue({ classes }: Report): boolean {
  return classes.every((tally) => isMet(tally) && !(tally.name.endsWith('invented') && tally.wrong > 0))
}

export function toJson(report: Report): string {
  const classes = report.classes.map((tally) => ({ ...tally, precision: precision(tally), recall: recall(tally) }))
  return JSON.stringify({ ...report, classes, ok: isTrue(report) })
}

export function toText(report: Report): string {
  const { clone, branch, tip, commits, prompts, entries, backfillSeconds, seconds, notes, classes } = report
  const rows = [
    ['class', 'right', 'missing', 'wrong', 'unknown', 'precision', 'recall'],
    ...classes.map((tally) => [
      tally.name,
      ...[tally.right, tally.missing, tally.wrong, tally.unknown].map((value) => value.toLocaleString('en')),
      percent(precision(tally)),
      percent(recall(tally)),
    ]),
  ]
  const widths = (rows[0] as string[]).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)))
  const table = rows.map((row) =>
    row
      .map((cell, i) => pad(cell, widths[i] ?? 0, i))
      .join('  ')
      .trimEnd(),
  )
  const examples = classes.flatMap((tally) =>
    tally.examples.length === 0
      ? []
      : [
          '',
          `${tally.name}:`,
          ...tally.examples.map(({ commit, outcome, reason }) => `  ${commit} ${outcome}: ${oneLine(reason)}`),
        ],
  )
  return [
    `${clone}, branch ${branch} at ${tip}`,
    `${commits.toLocaleString('en')} commits, ${prompts.toLocaleString('en')} prompts, ${entries.toLocaleString('en')} entries; ` +
      `backfill ${backfillSeconds.toFixed(1)} s, everything ${seconds.toFixed(1)} s`,
    ...notes.map((note) => `- ${note}`),
    '',
    ...table,
    ...examples,
    '',
    isTrue(report)
      ? `OK: every class is at least ${percent(requiredShare)} right, and no pull request is invented.`
      : `FAILED: a class is below ${percent(requiredShare)}, or a pull request is invented.`,
  ].join('\n')
}

function pad(cell: string, width: number, column: number): string {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width)
}

/** Rounded down, so that 100% means all. */
function percent(share: number | null): string {
  return share === null ? '-' : `${(Math.floor(share * 100_000) / 1_000).toFixed(share === 1 ? 0 : 3)}%`
}

/** Subjects and paths are untrusted: no control characters reach the terminal. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ').slice(0, 300)
}
