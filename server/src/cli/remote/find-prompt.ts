import type { Prompt, Promptledger } from '../../../../client/src/index.ts'
import { exitCodes, Failure } from '../failure.ts'
import { formatCount } from '../output.ts'
import { isRequestError } from './connection.ts'

/** How the help describes a prompt. */
export const promptHelp = 'ID, name or path of the prompt, or a part that only one prompt has'

const maxCandidates = 10

/** The prompt with this ID, name or path, or the only one whose name or path contains the text. */
export async function findPrompt(ledger: Promptledger, reference: string): Promise<Prompt> {
  // The client rejects these, because no path can hold them.
  const exact = /^\.{0,2}$/.test(reference) ? null : await promptNamed(ledger, reference)
  if (exact !== null) return exact
  const { data, pagination } = await ledger.prompts.list({ q: reference, sort: 'name', limit: maxCandidates })
  const [first] = data
  if (first !== undefined && pagination.total_count === 1 && reference !== '') return first
  if (first === undefined || reference === '') {
    throw new Failure(exitCodes.notFound, `No prompt matches "${reference}". See 'promptledger prompts'.`)
  }
  throw new Failure(
    exitCodes.notFound,
    `${formatCount(pagination.total_count, 'prompt')} match "${reference}". Use more of the name, or the ID:`,
    [...data.map(({ id, name }) => `  ${id}  ${name}`), ...moreThan(pagination.total_count - data.length)],
  )
}

async function promptNamed(ledger: Promptledger, reference: string): Promise<Prompt | null> {
  try {
    return await ledger.prompts.get(reference)
  } catch (error) {
    // Several prompts with one name are a validation error: the list below shows them.
    if (isRequestError(error) && (error.code === 'not_found' || error.code === 'validation_error')) return null
    throw error
  }
}

function moreThan(rest: number): string[] {
  return rest > 0 ? [`  … and ${formatCount(rest, 'other')}`] : []
}
