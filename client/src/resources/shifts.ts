import { createPages, type Pages } from '../page.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { Shift, ShiftQuery } from '../types.ts'
import { promptPath } from './prompts.ts'

export type Shifts = ReturnType<typeof shifts>

export function shifts(service: Transport) {
  return {
    /** Lists when the rates of the organisation's prompts moved, and why, newest first. */
    list(query?: ShiftQuery, options?: RequestOptions): Pages<Shift> {
      return createPages(service, '/shifts', query, options)
    },

    /** Lists when the rate of a prompt moved, and why, newest first. */
    listOfPrompt(promptId: string, query?: ShiftQuery, options?: RequestOptions): Pages<Shift> {
      return createPages(service, `${promptPath(promptId)}/shifts`, query, options)
    },
  }
}
