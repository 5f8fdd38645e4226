export interface Finding {
  check: string
  status: 'ok' | 'warning' | 'error'
  message: string
  /** What the operator should do. Null if the status is ok. */
  fix: string | null
}

export function ok(check: string, message: string): Finding {
  return { check, status: 'ok', message, fix: null }
}

export function warn(check: string, message: string, fix: string): Finding {
  return { check, status: 'warning', message, fix }
}

export function fail(check: string, message: string, fix: string): Finding {
  return { check, status: 'error', message, fix }
}

/** Runs one check. If it throws, that is the finding, and the other checks still run. */
export async function runCheck(check: string, run: () => Finding | Promise<Finding>): Promise<Finding> {
  try {
    return await run()
  } catch (error) {
    return fail(check, `could not be checked: ${reasonOf(error)}`, "Fix that and run 'promptledger doctor' again")
  }
}

/** The message of an error from the system or a server, on one line. */
export function reasonOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException
  return oneLine(message || code || 'unknown error')
}

export function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ')
}

export function plural(count: number, singular: string, pluralForm = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : pluralForm}`
}

/** How many examples of a problem a finding shows. */
export const maxExamples = 3

/** Joins the first examples of a problem that occurs `total` times. */
export function listExamples(examples: string[], total = examples.length): string {
  const shown = examples.slice(0, maxExamples)
  const more = total - shown.length
  return shown.join('; ') + (more > 0 ? `; and ${more} more` : '')
}
