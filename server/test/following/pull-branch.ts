import { bob } from '../../../testing/git-repository.ts'
import { connectedScenario, type Scenario, type ScenarioOptions } from '../../../testing/scenario.ts'
import type { TestService } from '../../../testing/service.ts'
import { forgeOf } from '../../src/forges/index.ts'

/** A repository with pull request 7, in which Bob changes prompts/p.md, and the delivery that opens it. */
export async function scenarioWithPull(service: TestService, options: ScenarioOptions = {}) {
  const s = await connectedScenario(service, options)
  const head = commitPull(s, 7, { 'prompts/p.md': 'Be very kind.\n' })
  return { s, head, opened: s.forge.pull({ action: 'opened', number: 7, head, openedAt: '2026-11-02T10:00:00Z' }) }
}

/** Commits as Bob to a new branch off the default branch, pushes it as a pull request and returns its head. */
export function commitPull(s: Scenario, number: number, ...commits: Record<string, string | null>[]): string {
  s.git.switchTo(`pull-${number}`, 'main')
  for (const [i, files] of commits.entries()) s.git.commit(`Change ${number}.${i}`, files, { author: bob })
  const head = s.git.head()
  pushPull(s, number)
  s.git.switchTo('main')
  return head
}

/** Pushes the branch of a pull request to the ref where its forge publishes it. */
export function pushPull(s: Scenario, number: number): void {
  const branch = `pull-${number}`
  s.git.push(`${branch}:${forgeOf(s.forgeName).pullRef(number) ?? branch}`)
}
