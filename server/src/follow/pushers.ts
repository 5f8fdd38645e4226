import type { Instant } from '../domain/time.ts'
import { mainlineShas } from '../git/mirror.ts'
import { type Push, pushesTo } from './incoming-deliveries.ts'
import type { SyncRun } from './sync-run.ts'

export interface Pusher {
  name: string | null
  receivedAt: Instant
}

/** The pusher of each new commit on the default branch, as far as deliveries reported it. */
export async function findPushers(run: SyncRun, from: string | null): Promise<Map<string, Pusher>> {
  const pushes = pushesTo(run.branch, run.deliveries)
  const pushers = new Map<string, Pusher>()
  if (pushes.length === 0) return pushers
  const byTip = new Map(pushes.map((push) => [push.after, push]))
  let push: Push | undefined
  // Newest first: a commit belongs to the closest push at or after it.
  for (const sha of await mainlineShas(run.mirror.path, from, run.tip)) {
    push = byTip.get(sha) ?? push
    if (push !== undefined) pushers.set(sha, { name: push.pusher, receivedAt: push.receivedAt })
  }
  return pushers
}
