/** Exit statuses beside 0 for success and 2 for wrong usage. Scripts rely on them. */
export const exitCodes = { failed: 1, notLoggedIn: 3, notFound: 4, unreachable: 5, interrupted: 130 } as const

/** An error with an exit status of its own. Nothing is printed for an empty message. `details` are further lines for the person who reads it. */
export class Failure extends Error {
  readonly exitCode: number
  readonly details: string[]

  constructor(exitCode: number, message: string, details: string[] = []) {
    super(message)
    this.exitCode = exitCode
    this.details = details
  }
}
