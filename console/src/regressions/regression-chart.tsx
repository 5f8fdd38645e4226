import type { Regression } from '@promptledger/client'
import { useLocation } from 'wouter'
import { LoadedChart, useChart } from '../prompt/loaded-chart.tsx'
import { changePath } from '../prompt/prompt-path.ts'
import { isShared } from '../shared/token.ts'
import { liveSince } from './open-time.ts'

/** The feedback before and after the change that made the prompt worse. */
export function RegressionChart({ regression }: { regression: Regression }) {
  const { prompt, change } = regression
  const [, navigate] = useLocation()
  const state = useChart(prompt.id, change.id, liveSince(regression))
  const open = (id: number) => !isShared && navigate(changePath(prompt.id, id))
  return <LoadedChart state={state} promptName={prompt.name} onOpen={open} />
}
