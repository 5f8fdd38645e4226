import type { Shift } from '@promptledger/client'
import { promptPath } from '../prompt/prompt-path.ts'

export function shiftPath({ id, prompt }: Shift): string {
  return `${promptPath(prompt.id)}/shifts/${id}`
}
