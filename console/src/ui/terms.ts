/** The terms that explain themselves in place, in the words of docs/impact.md: console/test/prompt.test.ts compares them. */
export const terms = {
  better: 'The rate changed, and this change explains it at least 20 times better than votes that move on their own.',
  worse: 'The rate changed, and this change explains it at least 20 times better than votes that move on their own.',
  unexplained:
    'The rate changed, but this change is not a good explanation: votes on this prompt often move this far, they moved on another ' +
    'day, they come from a different audience, or other prompts moved too.',
  no_difference_seen: 'The votes show no difference, and one of more than 10 points can be ruled out.',
  too_little_data: 'A side has fewer than 20 votes, or a difference of more than 10 points is still possible.',
  first_version:
    'Nothing was live before this change, so there is nothing to compare it with, however many votes it has.',
  confidence_range:
    'A rate is a sample, and another sample would be a little different. The true one is in this range 95 times in 100.',
  shift: 'The rate moved more than votes usually drift, and no change of the prompt explains it.',
  regression:
    'A change that is worse opens a regression. It stays open when the next harmless change ships, until the rate is back, the change is reverted, or someone dismisses it with a note.',
  withdrawn: 'A regression is withdrawn if the verdict is no longer worse and the votes now speak for another cause.',
} as const

export type TermName = keyof typeof terms
