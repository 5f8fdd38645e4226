import type { FastifyInstance } from 'fastify'
import {
  type NewExposuresBody,
  type NewTrialBody,
  operations,
  type TrialBody,
  type TrialUpdateBody,
} from '../../../../contract/trials.ts'
import type { Access } from '../../domain/access/api-key.ts'
import { invalid } from '../../domain/errors.ts'
import { findPrompt } from '../../domain/prompt-reference.ts'
import type { RepositoryService } from '../../domain/repositories/repository-service.ts'
import { judgeExposures } from '../../domain/trials/exposures.ts'
import { previewCandidate, startTrial } from '../../domain/trials/start-trial.ts'
import {
  emptyArms,
  isVisibleTrial,
  type Trial,
  trialEnded,
  trialStates,
  validShare,
} from '../../domain/trials/trial.ts'
import { segmentsOfTrial } from '../../domain/trials/trial-segments.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { createReadPool } from '../history/read-pool.ts'
import { checkDeclared, segmentParameter } from '../impact/parameters.ts'
import { requestedPage, sendPage } from '../page-body.ts'
import { enumParameter, integerParameter, lastValue, publicIdParameter, type Query } from '../parameters.ts'
import { beforeBody, route } from '../route.ts'
import { visiblePrompts } from '../visible-prompts.ts'
import { pullUrlOf, toSegmentsBody, toTrialBody } from './body.ts'

// Each runs git against a server of the tenant, which decides how long it takes and how much memory git needs. They are limited only within
// the organisation, so that a slow server makes no other organisation wait.
const limitsOfRemoteReads = { reads: Number.POSITIVE_INFINITY, readsPerOrganisation: 2 }

/** Pull requests that some users get before they are merged. */
export function trialRoutes(app: FastifyInstance, { store, repositories, clock }: Context): void {
  const remoteReads = createReadPool(limitsOfRemoteReads)

  /** Reads git for one organisation. */
  function gitOf({ organisationId }: Access): Pick<RepositoryService, 'candidate' | 'texts' | 'deliveredBytes'> {
    return {
      deliveredBytes: repositories.deliveredBytes,
      candidate: (...request) => remoteReads.run(organisationId, () => repositories.candidate(...request)),
      texts: (...request) => remoteReads.run(organisationId, () => repositories.texts(...request)),
    }
  }

  /** A key that is limited to prompts sees only trials whose prompts it may all read. */
  async function findTrial(access: Access, params: unknown): Promise<Trial> {
    const id = publicIdParameter(params, 'trial_id', 'trl')
    const trial = await store.trials.find(access.organisationId, id)
    const visible = await visiblePrompts(store.prompts, access)
    if (trial === null || !isVisibleTrial(trial, visible)) throw notFound()
    return trial
  }

  const toBody = async (trial: Trial) => toTrialBody(trial, await store.repositories.find(trial.repositoryId))

  async function disagreeingKeys(trial: Trial): Promise<NonNullable<TrialBody['disagreeing_keys']>> {
    const { control, candidate } = trial.findings?.arms ?? emptyArms(() => ({ voters: 0 }))
    const { disagreeing } = judgeExposures(await store.trials.exposures(trial), control.voters + candidate.voters)
    const keys = await Promise.all(disagreeing.map((id) => (id === null ? null : store.keys.find(id))))
    return keys.flatMap((key) => (key === null ? [] : [{ id: key.id, name: key.name }]))
  }

  route(app, operations.startTrial, async ({ access, body }, reply) => {
    const {
      pull = null,
      commit = null,
      repository_id = null,
      prompts = null,
      share = null,
      ramp,
    } = body as NewTrialBody
    const request = { pull, commit, repositoryId: repository_id, prompts: prompts && [...prompts], share }
    const key = await store.keys.find(access.keyId)
    const trial = await startTrial(
      store,
      gitOf(access),
      { ...request, ramp: ramp === undefined ? null : { shares: [...ramp.shares], votes: ramp.votes } },
      { access, by: access, name: key?.name ?? 'unknown' },
      clock(),
    )
    return reply.status(201).send({ data: await toBody(trial) })
  })

  route(app, operations.listTrials, async ({ access, query }, reply) => {
    const request = requestedPage(query)
    const state = enumParameter(query as Query, 'state', trialStates)
    const reference = lastValue((query as Query).prompt)
    const prompt = reference === undefined ? null : await findPrompt(store.prompts, access, reference)
    const visible = await visiblePrompts(store.prompts, access)
    const isUnknown = reference !== undefined && prompt === null
    const { trials, totalCount } = await store.trials.page(
      access.organisationId,
      prompt?.id ?? null,
      isUnknown ? [] : visible,
      state,
      request,
    )
    return sendPage(reply, await Promise.all(trials.map(toBody)), request, totalCount)
  })

  route(app, operations.getTrialCandidate, async ({ access, query: given }) => {
    const query = given as Query
    const request = {
      pull: integerParameter(query, 'pull'),
      commit: lastValue(query.commit) ?? null,
      repositoryId: integerParameter(query, 'repository_id'),
    }
    const { repository, candidate, prompts } = await previewCandidate(store, gitOf(access), request, access)
    return {
      data: {
        repository_id: repository.id,
        pr_number: request.pull,
        pr_url: pullUrlOf(repository, request.pull),
        commit_sha: candidate.commitSha,
        from_fork: !candidate.isOwnBranch && !candidate.isMerged,
        prompts: prompts.map(({ publicId, name }) => ({ id: publicId, name })),
      },
    }
  })

  route(app, operations.getTrial, async ({ access, params, query }) => {
    const trial = await findTrial(access, params)
    const by = segmentParameter(query as Query)
    const body = { ...(await toBody(trial)), disagreeing_keys: await disagreeingKeys(trial) }
    if (by === null) return { data: body }
    const ids = trial.prompts.map(({ prompt }) => prompt.id)
    for (const prompt of await store.prompts.withIds(access.organisationId, ids)) {
      checkDeclared(by, await store.segments.ofPrompt(prompt))
    }
    const segments = toSegmentsBody(await segmentsOfTrial(store.trials, trial, by))
    return { data: { ...body, segments } }
  })

  route(
    app,
    operations.updateTrial,
    async ({ access, params, body }) => {
      const trial = await findTrial(access, params)
      const { share, state } = body as TrialUpdateBody
      if (share === undefined && state === undefined) throw invalid('share or state is required')
      const isEnd = state === 'ended'
      const change = {
        ...(share !== undefined && { share: validShare('share', share) }),
        ...(state !== undefined && !isEnd && { state }),
        ...(isEnd && { ending: 'requested' as const }),
      }
      const changed = await store.trials.change(trial, change, isEnd ? ['stopped'] : [], clock(), access)
      if (changed === null) throw trialEnded(trial.id)
      return { data: await toBody(changed) }
    },
    beforeBody(({ access, params }) => findTrial(access, params)),
  )

  route(app, operations.recordExposures, async ({ access, body }, reply) => {
    const { source, exposures } = body as NewExposuresBody
    const valid = exposures.map((each) => ({ ...each, share: validShare('share', each.share) }))
    const [active, visible] = await Promise.all([
      store.trials.active(access.organisationId),
      visiblePrompts(store.prompts, access),
    ])
    // Of other trials, and of shares that were never served, there is nothing to count.
    const counted = valid.filter(({ trial: id, share }) => {
      const trial = active.find((each) => each.id === id)
      return trial?.shares.some((served) => served.share === share) && isVisibleTrial(trial, visible)
    })
    await store.trials.recordExposures(access.organisationId, access.keyId, source, counted)
    return reply.status(204).send()
  })
}
