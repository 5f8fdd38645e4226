export type { SignalResult } from './batch.ts'
export { Promptledger } from './client.ts'
export {
  ConflictError,
  ConnectionError,
  type ErrorCode,
  ForbiddenError,
  NotFoundError,
  PromptledgerError,
  RateLimitedError,
  TimeoutError,
  UnauthorizedError,
  ValidationError,
} from './errors.ts'
export type { Pages } from './page.ts'
export type { DeliveryOptions, PromptText, TextOptions } from './prompt-text.ts'
export type { QueuedSignal, QueueOptions, SignalOptions, SignalQueue, Spool } from './queue.ts'
export type { ClientOptions, RequestOptions } from './request.ts'
export type { NewToken } from './resources/tokens.ts'
export type * from './types.ts'
