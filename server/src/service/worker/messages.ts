import type { Config } from '../../config.ts'
import { DomainError, type ErrorCode, errorCodes, InvalidFieldError } from '../../domain/errors.ts'
import type { DueRepository } from '../../domain/repositories/lease.ts'
import type { RepositoryService } from '../../domain/repositories/repository-service.ts'
import type { Family } from '../../metrics/text-format.ts'

/** What runs git, which only the worker process does. */
export const gitCalls = [
  'connect',
  'update',
  'contents',
  'blame',
  'earliestText',
  'searchTexts',
  'texts',
  'fetchLiveTexts',
  'candidate',
  'pushUndo',
  'undoCommands',
] as const satisfies (keyof RepositoryService)[]

export type GitCalls = Pick<RepositoryService, (typeof gitCalls)[number]>

/** What the service asks of its worker process, as functions that the process implements. */
export interface WorkerCalls extends GitCalls {
  /** The counts of this process since it started. */
  metrics(): Promise<Family[]>
  /** Stops syncing. The other calls still work. */
  stop(): Promise<void>
}

export type CallName = keyof WorkerCalls

/** Messages to the worker process. `start` comes first. */
export type Request =
  | { type: 'start'; config: Config }
  | { type: 'wake'; repositories: DueRepository[] }
  | { type: 'call'; id: number; name: CallName; parameters: unknown[] }

/** Messages from the worker process: the outcome of a call. */
export type Response = { id: number; value: unknown } | { id: number; error: PlainError }

/** An error without its class, which a message cannot carry. */
interface PlainError {
  message: string
  stack: string | undefined
  code?: string
  field?: string
  problem?: string
}

export function toPlainError(error: Error): PlainError {
  const { message, stack } = error
  if (error instanceof InvalidFieldError) return { message, stack, field: error.field, problem: error.problem }
  return error instanceof DomainError ? { message, stack, code: error.code } : { message, stack }
}

export function fromPlainError({ message, stack, code, field, problem }: PlainError): Error {
  if (field !== undefined && problem !== undefined) return new InvalidFieldError(field, problem)
  if (errorCodes.some((each) => each === code)) return new DomainError(code as ErrorCode, message)
  const error = new Error(message)
  // Where it happened in the worker process, for the log.
  if (stack !== undefined) error.stack = stack
  return error
}
