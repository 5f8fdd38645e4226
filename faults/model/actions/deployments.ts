import { type Action, recorders, someKey, someOrganisation, somePromptId } from '../run.ts'
import { day, iso } from '../state.ts'

/** Mostly to an environment that does not decide what is live, so that the model still predicts the impact. */
export const recordDeployment: Action = async (run, draw) => {
  const organisation = someOrganisation(run, draw)
  const { now } = run.service
  const deployment = {
    environment: draw.one(['staging', 'staging', 'staging', 'review', 'production', '']),
    commit_sha: draw.chance(0.05) ? 'abc' : draw.one(['a', 'B', '3']).repeat(40),
    state: draw.one(['success', 'success', 'inactive', 'failure', 'in_progress', 'gone']),
    ...(draw.chance(0.3) && { share: draw.one([0.1, 0.25, 1, 0, 2]) }),
    ...(draw.chance(0.5) && { at: iso(now - draw.one([0, draw.between(0, 20 * day), -1])) }),
  }
  const path = `/prompts/${somePromptId(run, draw, organisation)}/deployments`
  const key = someKey(run, draw, organisation, recorders)
  const request = { method: 'POST' as const, path, key, body: JSON.stringify(deployment) }
  await run.send(request)
  if (draw.chance(0.3)) await run.send(request)
}
