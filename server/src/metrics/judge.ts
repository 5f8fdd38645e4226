import { counter, type Family, gauge } from './text-format.ts'

/** What the judge counts. */
export interface JudgeSource {
  stats(): { judged: number; failed: number; dropped: number; sweeps: number; waiting: number; seconds: number }
}

export function judgeFamilies(judge: JudgeSource): Family[] {
  const { judged, failed, dropped, sweeps, waiting, seconds } = judge.stats()
  return [
    counter(
      'promptledger_judged_prompts_total',
      'Prompts judged in the background, by outcome. Those dropped are judged by the next daily sweep.',
      Object.entries({ judged, failed, dropped }).map(([outcome, value]) => ({ labels: { outcome }, value })),
    ),
    counter('promptledger_judge_seconds_total', 'Time spent judging prompts.', [{ value: seconds }]),
    gauge('promptledger_judge_waiting_prompts', 'Prompts with new votes that wait to be judged.', [{ value: waiting }]),
    counter('promptledger_judge_sweeps_total', 'Daily sweeps over all prompts that this process has finished.', [
      { value: sweeps },
    ]),
  ]
}
