import { InvalidFieldError } from '../domain/errors.ts'

/** The options of a command by the field of the domain that they set. */
export type OptionNames = Record<string, string>

/** For `catch`: throws the error with the name of the option that an invalid field comes from. */
export function namingOptions(options: OptionNames): (error: Error) => never {
  return (error) => {
    const option = error instanceof InvalidFieldError ? options[error.field] : undefined
    throw option === undefined ? error : new Error(`${option} ${(error as InvalidFieldError).problem}`)
  }
}
