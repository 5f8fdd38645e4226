import { requestData } from '../data.ts'
import { createPages, type Pages } from '../page.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { Dismissal, Regression, RegressionDetails, RegressionQuery } from '../types.ts'
import { promptPath } from './prompts.ts'

export type Regressions = ReturnType<typeof regressions>

export function regressions(service: Transport) {
  const ofPrompt = (promptId: string) => `${promptPath(promptId)}/regressions`
  return {
    /** Lists the changes that made prompts of the organisation worse. The last one found comes first, unless `sort` says otherwise. */
    list(query?: RegressionQuery, options?: RequestOptions): Pages<Regression> {
      return createPages(service, '/regressions', query, options)
    },

    /** Lists the changes that made a prompt worse. The last one found comes first. */
    listOfPrompt(promptId: string, query?: RegressionQuery, options?: RequestOptions): Pages<Regression> {
      return createPages(service, ofPrompt(promptId), query, options)
    },

    /** Reads a regression, with what alerts and the pull request were told about it. */
    get(promptId: string, regressionId: number, options?: RequestOptions): Promise<RegressionDetails> {
      return requestData(service, { method: 'GET', path: `${ofPrompt(promptId)}/${regressionId}` }, options)
    },

    /** Dismisses an open regression. Dismissing it again changes nothing. */
    dismiss(promptId: string, regressionId: number, body: Dismissal, options?: RequestOptions): Promise<Regression> {
      const path = `${ofPrompt(promptId)}/${regressionId}/dismiss`
      return requestData(service, { method: 'POST', path, body, isIdempotent: true }, options)
    },
  }
}
