import { operator } from '../domain/access/audit.ts'
import { newDeployment } from '../domain/deployments/deployment.ts'
import type { Prompt } from '../domain/prompt.ts'
import type { Store } from '../domain/store.ts'
import type { Instant } from '../domain/time.ts'
import type { DemoPrompt } from './change.ts'
import { landings } from './timeline.ts'

/** Two versions that are live at the same time. */
export interface Canary {
  /** When it started. */
  at: Instant
  /** The part of the traffic that the new version gets. */
  share: number
  oldSha: string
  newSha: string
}

/** Deploys the last change of the prompt beside the one before it, if it is a canary. */
export async function deployCanary(
  { repositories, history, deployments }: Store,
  prompt: Prompt,
  demo: DemoPrompt,
  now: Instant,
): Promise<Canary | null> {
  const [earlier, last] = landings(demo, now).slice(-2)
  const share = last?.change.canary
  if (earlier === undefined || last === undefined || share === undefined) return null
  const landed = await history.landedChanges(prompt)
  const shaAt = (at: Instant) => landed.find(({ createdAt }) => createdAt === at)?.commitSha as string
  const canary = { at: last.at, share, oldSha: shaAt(earlier.at), newSha: shaAt(last.at) }
  const repository = prompt.repositoryId === null ? null : await repositories.find(prompt.repositoryId)
  for (const [commitSha, at, part] of [
    [canary.oldSha, earlier.at, 1],
    [canary.newSha, last.at, share],
  ] as const) {
    const submitted = { environment: 'production', commitSha, state: 'success', share: part, at } as const
    await deployments.record({ prompt, repository }, newDeployment(submitted, now), at, operator)
  }
  return canary
}
