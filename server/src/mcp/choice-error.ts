import { DomainError } from '../domain/errors.ts'

/** An argument that has to be one of `choices`. They are apart from the message, because other people named them. */
export class ChoiceError extends DomainError {
  readonly choices: Record<string, object[]>

  constructor(message: string, choices: Record<string, object[]>) {
    super('validation_error', message)
    this.choices = choices
  }
}
