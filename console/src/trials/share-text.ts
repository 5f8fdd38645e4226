import { ValidationError } from '@promptledger/client'

/** Shares from 0 to 1, from percentages such as `10%` or `5, 20, 50`. Throws the error that the API would respond with. */
export function sharesFrom(text: string): number[] {
  const parts = text.split(',').map((part) => part.trim().replace(/\s*%$/, ''))
  const shares = parts.map((part) => (/^\d{1,3}(\.\d{1,4})?$/.test(part) ? Number(part) / 100 : Number.NaN))
  if (!shares.every((share) => share <= 1)) throw invalid('share must be from 0% to 100%, such as 10%')
  if (shares.length > 1 && shares.some((share, i) => share <= (shares[i - 1] ?? 0))) {
    throw invalid('share must rise from step to step, such as 5%, 20%, 50%')
  }
  return shares
}

/** A pull request or a commit, as the API takes it. */
export function candidateFrom(text: string): { pull: number } | { commit: string } {
  const trimmed = text.trim()
  if (/^#?[1-9]\d{0,5}$/.test(trimmed)) return { pull: Number(trimmed.replace('#', '')) }
  if (/^([0-9a-f]{40}|[0-9a-f]{64})$/i.test(trimmed)) return { commit: trimmed }
  throw invalid('candidate must be the number of a pull request, or the full hash of a commit')
}

function invalid(message: string): ValidationError {
  return new ValidationError(message, { code: 'validation_error' })
}
