import { requestData } from '../data.ts'
import { createPages, type Pages } from '../page.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { Deployment, NewDeployment, PageQuery, PromptDeployment } from '../types.ts'
import { promptPath } from './prompts.ts'

export type Deployments = ReturnType<typeof deployments>

export function deployments(service: Transport) {
  const ofRepository = (repositoryId: number) => `/repositories/${repositoryId}/deployments`
  const ofPrompt = (promptId: string) => `${promptPath(promptId)}/deployments`
  return {
    /** Lists the deployments of a prompt and of its repository, newest first. */
    list(promptId: string, query?: PageQuery, options?: RequestOptions): Pages<PromptDeployment> {
      return createPages(service, ofPrompt(promptId), query, options)
    },

    /**
     * Records a deployment of one prompt. The same deployment is recorded once. Needs a key with the role `recorder` or
     * `admin`.
     */
    record(promptId: string, body: NewDeployment, options?: RequestOptions): Promise<PromptDeployment> {
      return requestData(service, { method: 'POST', path: ofPrompt(promptId), body, isIdempotent: true }, options)
    },

    /** Lists the deployments of a repository, newest first. */
    listOfRepository(repositoryId: number, query?: PageQuery, options?: RequestOptions): Pages<Deployment> {
      return createPages(service, ofRepository(repositoryId), query, options)
    },

    /** Records a deployment of all prompts of a repository. Needs a key with the role `recorder` or `admin`. */
    recordOfRepository(repositoryId: number, body: NewDeployment, options?: RequestOptions): Promise<Deployment> {
      return requestData(
        service,
        { method: 'POST', path: ofRepository(repositoryId), body, isIdempotent: true },
        options,
      )
    },
  }
}
