import type { Prompt } from '../../prompt.ts'
import { type Clock, type Instant, minute } from '../../time.ts'
import { defaultPrompts, defaultWander, gridSize, learnWander, posteriorOf, type Wander } from './drift.ts'
import type { WanderStore } from './drift-store.ts'

/** What the other prompts of an organisation lead us to expect of a prompt. */
export interface LearnedWander {
  of(prompt: Prompt): Promise<Readonly<Wander>>
}

interface Learned {
  learnedAt: Instant
  wander: Wander
  likelihoods: Map<number, Readonly<Float64Array>>
}

// Enough to know what votes of an organisation are like, and at most 100 KB for each.
const maxPrompts = 200
const maxOrganisations = 100
const maxAgeMs = 10 * minute

/** Learns from each organisation every ten minutes, when it is asked for one of its prompts. */
export function createLearnedWander(store: Pick<WanderStore, 'ofOrganisation'>, clock: Clock): LearnedWander {
  const learned = new Map<number, Promise<Learned>>()

  async function learn(organisationId: number): Promise<Learned> {
    const prompts = await store.ofOrganisation(organisationId, maxPrompts)
    const likelihoods = new Map(prompts.map(({ promptId, logLikelihood }) => [promptId, logLikelihood]))
    return { learnedAt: clock(), wander: learnWander([...likelihoods.values()]), likelihoods }
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
      const { wander, likelihoods } = await of(organisationId)
      const own = likelihoods.get(id)
      return own === undefined ? wander : withoutOwn(wander, own, likelihoods.size)
    },
  }
}

/** Takes the prompt's own part out of what was learned, because its votes count already. */
function withoutOwn(wander: Wander, own: Readonly<Float64Array>, prompts: number): Readonly<Wander> {
  if (prompts === 1) return defaultWander
  const posterior = posteriorOf(wander, own)
  const total = defaultPrompts + prompts
  return Float64Array.from({ length: gridSize }, (_, g) => {
    const others = Math.exp(wander[g] as number) * total - (posterior[g] as number)
    // Rounds of learning end before the weights are exact, but the default keeps its share.
    const least = defaultPrompts * Math.exp(defaultWander[g] as number)
    return Math.log(Math.max(others, least) / (total - 1))
  })
}
