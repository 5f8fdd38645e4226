import { audit } from './audit.ts'
import { any, type Call, created, invalid, ok, type Prediction, page, parseObject, parseTime } from './request.ts'
import { type Deployment, iso, type Prompt } from './state.ts'

const states = ['queued', 'in_progress', 'success', 'failure', 'inactive']

/** Recorded once: with a time, if all values are the same; without, if the last one of the environment is the same. */
export function recordDeployment({ organisation, key, prompt, request, now }: Call): Prediction {
  const { environment, commit_sha, state, share = 1, at } = parseObject(request.body) as Partial<Deployment>
  if (typeof environment !== 'string' || environment === '' || !states.includes(state ?? '')) return invalid()
  if (typeof commit_sha !== 'string' || !/^[0-9a-f]{40}$/i.test(commit_sha)) return invalid()
  if (typeof share !== 'number' || !(share > 0 && share <= 1)) return invalid()
  const deployedAt = at === undefined ? now : parseTime(at)
  if (deployedAt > now) return invalid()
  const fields = { environment, commit_sha: commit_sha.toLowerCase(), state: state as string, share }
  const isSame = (other: Deployment) =>
    Object.entries(fields).every(([name, value]) => other[name as keyof Deployment] === value)
  const [last] = newestFirst(prompt).filter((other) => other.environment === environment)
  const known =
    at === undefined
      ? last !== undefined && isSame(last)
        ? last
        : undefined
      : prompt.deployments.find((other) => isSame(other) && other.at === iso(deployedAt))
  if (known !== undefined) return created({ data: bodyOf(known) })
  const production = isProduction(environment)
  const deployment = { id: 0, ...fields, production, at: iso(deployedAt), received_at: iso(now) }
  return created<{ data: Deployment }>({ data: { ...bodyOf(deployment), id: any } }, ({ data }) => {
    prompt.deployments.push({ ...deployment, id: data.id })
    const details = { prompt: prompt.id, commit_sha: fields.commit_sha, state: fields.state }
    audit(
      { organisation, key, action: 'deployment.recorded', subject: { id: data.id, name: environment }, details },
      now,
    )
  })
}

export function listDeployments({ prompt, query }: Call): Prediction {
  return ok(page(newestFirst(prompt).map(bodyOf), query))
}

/** Whether deployments decide what is live, and not the history alone. */
export function isDeployed({ deployments }: Prompt): boolean {
  return deployments.some(({ production, state }) => production && ['success', 'inactive'].includes(state))
}

function isProduction(environment: string): boolean {
  return /^(production|prod|live)$/i.test(environment)
}

function newestFirst({ deployments }: Prompt): Deployment[] {
  return deployments.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at) || b.id - a.id)
}

/** Which entry has the commit, and whether it was found, has tests of its own. */
function bodyOf(deployment: Deployment) {
  return { ...deployment, scope: 'prompt', commit_state: any, source: 'api', entry_id: any }
}
