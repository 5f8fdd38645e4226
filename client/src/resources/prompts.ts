import { prompts as generated } from '../generated/resources.ts'
import type { PromptText, TextOptions } from '../prompt-text.ts'
import type { Transport } from '../request.ts'

export type Prompts = ReturnType<typeof prompts>

export function prompts(service: Transport, text: (prompt: string, options: TextOptions) => Promise<PromptText>) {
  return { ...generated(service), text }
}
