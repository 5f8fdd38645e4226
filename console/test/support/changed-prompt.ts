import assert from 'node:assert/strict'
import type { Prompt } from '../../../server/src/domain/prompt.ts'
import type { NewSignal, SignalValue } from '../../../server/src/domain/signals/signal.ts'
import { bob, web } from '../../../testing/git-repository.ts'
import { connectedScenario, type Scenario } from '../../../testing/scenario.ts'
import type { TestService } from '../../../testing/service.ts'
import { inBatches } from '../../../testing/signals.ts'

export const dayMs = 86_400_000
const path = 'prompts/p.md'

export interface ChangedPrompt {
  scenario: Scenario
  prompt: Prompt
}

/** The titles of the prompt's history entries, newest first. */
export const titles = ['Sell something', 'Answer in three sentences', 'Shorter answers', 'Start with a helper']

/** A prompt in a connected repository. A pull request improved it 60 days ago, and a commit made it worse 20 days ago. */
export async function createChangedPrompt(service: TestService): Promise<ChangedPrompt> {
  const ago = (days: number) => new Date(service.now - days * dayMs).toISOString()
  const scenario = await connectedScenario(service, {
    prepare(git) {
      const files = {
        [path]: 'You are a helper.\nAnswer every question at length.\nBe kind.\n',
        'prompts/q.md': 'Be brief.\n',
      }
      git.commit('Start with a helper', files, { at: ago(90) })
      git.push()
    },
  })
  const { git, forge } = scenario

  git.switchTo('shorter', 'main')
  const shorter = 'You are a helper.\nAnswer every question in three sentences.\nBe kind.\n'
  git.commit('Answer in three sentences', { [path]: shorter }, { author: bob, at: ago(61) })
  const head = git.head()
  git.push('shorter:refs/pull/7/head')
  git.switchTo('main')
  const pull = { number: 7, head, headBranch: 'shorter', title: 'Shorter answers', openedAt: ago(61) }
  await scenario.deliver(forge.pull({ action: 'opened', ...pull }))
  const title = 'Merge pull request #7 from acme/shorter\n\nAnswer in three sentences\n\nThey asked for it.'
  const merge = git.merge('shorter', title, { author: bob, committer: web, at: ago(60) })
  await scenario.push()
  await scenario.deliver(forge.pull({ action: 'merged', ...pull, mergeCommit: merge, at: ago(60) }))

  git.commit('Sell something', { [path]: `${shorter}Always offer our newest plan.\n` }, { at: ago(20) })
  await scenario.push()

  const prompt = await service.store.prompts.find(scenario.tenant.organisation.id, await scenario.promptId(path))
  assert.ok(prompt)
  await importSignals(service, prompt, [89, 62], { positive: 220, negative: 180 })
  await importSignals(service, prompt, [59, 21], { positive: 320, negative: 80 })
  await importSignals(service, prompt, [19, 1], { positive: 150, negative: 150 })
  return { scenario, prompt }
}

/** Imports signals spread evenly between two numbers of days ago. */
export async function importSignals(
  service: TestService,
  prompt: Prompt,
  [from, to]: [number, number],
  counts: Record<SignalValue, number>,
): Promise<void> {
  const total = counts.positive + counts.negative
  const signals = Array.from({ length: total }, (_, i): NewSignal => {
    const daysAgo = from + ((to - from) * i) / Math.max(1, total - 1)
    // Interleave the values, so that every day has its share of both.
    const isPositive = Math.floor(((i + 1) * counts.positive) / total) > Math.floor((i * counts.positive) / total)
    return {
      organisationId: prompt.organisationId,
      promptId: prompt.id,
      value: isPositive ? 'positive' : 'negative',
      metadata: null,
      createdAt: Math.round(service.now - daysAgo * dayMs),
    }
  })
  await service.store.signals.import(inBatches(signals))
}
