import type { Prompt } from '../../prompt.ts'
import { type Clock, type Instant, minute } from '../../time.ts'
import { type Drift, defaultDrift, defaultPrompts, gridSize, learnDrift, posteriorOf } from './drift.ts'
import type { DriftStore } from './drift-store.ts'

/** What the other prompts of an organisation lead us to expect of a prompt. */
export interface LearnedDrift {
  of(prompt: Prompt): Promise<Readonly<Drift>>
}

interface Learned {
  learnedAt: Instant
  drift: Drift
  likelihoods: Map<number, Readonly<Float64Array>>
  /** What was expected of prompts that were asked for. */
  expected: Map<number, Readonly<Drift>>
}

// Enough to know what votes of an organisation are like, and at most 200 KB for each.
const maxPrompts = 200
const maxOrganisations = 100
const maxAgeMs = 10 * minute

/** Learns from each organisation every ten minutes, when it is asked for one of its prompts. */
export function createLearnedDrift(store: Pick<DriftStore, 'ofOrganisation'>, clock: Clock): LearnedDrift {
  const learned = new Map<number, Promise<Learned>>()

  async function learn(organisationId: number): Promise<Learned> {
    const prompts = await store.ofOrganisation(organisationId, maxPrompts)
    const likelihoods = new Map(prompts.map(({ promptId, logLikelihood }) => [promptId, logLikelihood]))
    return { learnedAt: clock(), drift: learnDrift([...likelihoods.values()]), likelihoods, expected: new Map() }
  }

  async function of(organisationId: number): Promise<Learned> {
    const known = await learned.get(organisationId)?.catch(() => undefined)
    if (known !== undefined && Math.abs(clock() - known.learnedAt) < maxAgeMs) return known
    const fresh = learn(organisationId)
    learned.delete(organisationId)
    learned.set(organisationId, fresh)
    if (learned.size > maxOrganisations) learned.delete(learned.keys().next().value as number)
    // A failure must not be remembered.
    fresh.catch(() => learned.get(organisationId) === fresh && learned.delete(organisationId))
    return fresh
  }

  return {
    async of({ organisationId, id }) {
      const { drift, likelihoods, expected } = await of(organisationId)
      const own = likelihoods.get(id)
      if (own === undefined) return drift
      const known = expected.get(id) ?? withoutOwn(drift, own, likelihoods.size)
      expected.set(id, known)
      return known
    },
  }
}

/** Takes the prompt's own part out of what was learned, because its votes count already. */
function withoutOwn(drift: Drift, own: Readonly<Float64Array>, prompts: number): Readonly<Drift> {
  if (prompts === 1) return defaultDrift
  const posterior = posteriorOf(drift, own)
  const total = defaultPrompts + prompts
  return Float64Array.from({ length: gridSize }, (_, g) => {
    const others = Math.exp(drift[g] as number) * total - (posterior[g] as number)
    // Rounds of learning end before the weights are exact, but the default keeps its share.
    const least = defaultPrompts * Math.exp(defaultDrift[g] as number)
    return Math.log(Math.max(others, least) / (total - 1))
  })
}
