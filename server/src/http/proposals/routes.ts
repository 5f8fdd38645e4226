import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { NewProposalBody } from '../../../../contract/proposals.ts'
import { operations } from '../../../../contract/regressions.ts'
import { checkFiles } from '../../domain/proposals/proposal.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { idParameter } from '../parameters.ts'
import { beforeBody, route } from '../route.ts'
import { toProposalBody } from './body.ts'

/** Pull requests that take back what made a prompt worse. */
export function proposalRoutes(app: FastifyInstance, { store, propose }: Context): void {
  async function findRegression({ prompt, params }: FastifyRequest): Promise<number> {
    const id = idParameter((params as { regression_id: string }).regression_id)
    if ((await store.regressions.find(prompt, id)) === null) throw notFound()
    return id
  }

  route(
    app,
    operations.proposeRevert,
    async (request) => {
      const { prompt, access, body } = request
      const { mode = 'revert', files = 'prompt' } = (body as NewProposalBody) ?? {}
      checkFiles({ files }, access)
      const id = await findRegression(request)
      const key = await store.keys.find(access.keyId)
      const proposer = { by: access, name: key?.name ?? 'unknown' }
      const { proposal } = await propose(prompt, id, { mode, files }, proposer)
      return { data: toProposalBody(proposal) }
    },
    beforeBody(findRegression),
  )
}
