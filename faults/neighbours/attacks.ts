import type { Attack } from './attack.ts'
import { changedAudit, wrongKeys } from './audit.ts'
import { ordinaryBatches, slowBatches } from './batches.ts'
import { bracketBodies, largeBody } from './bodies.ts'
import { combined } from './combined.ts'
import { editedImport } from './edited-import.ts'
import { entryReads } from './entry-reads.ts'
import { erasures } from './erasures.ts'
import { forgedLines, unreadExports } from './exports.ts'
import { signalFlood } from './floods.ts'
import { hugeMessages, nestedTrees, zipBomb } from './git-bombs.ts'
import { hangingServers, hostileGlobs, innerAddresses, slowConnects } from './git-servers.ts'
import { hardening } from './hardening.ts'
import { hiddenText } from './hidden-text.ts'
import { pipelinedRequests } from './pipelining.ts'
import { pullRefs } from './pull-refs.ts'
import { weakKeys } from './roles.ts'
import { copiedSecret, killedRotation } from './secrets.ts'
import { announcedBodies, largeEvents } from './strangers.ts'
import { hostileTelemetry, pipelinedTelemetry, slowTelemetry, spanFlood } from './telemetry.ts'
import { unreadEntries, unreadPages } from './unread.ts'
import { idleUploads, leakedSecret } from './webhooks.ts'
import { stuckWorker } from './worker.ts'

const atOnce = [unreadEntries, slowBatches, unreadPages, hugeMessages, zipBomb, ordinaryBatches]
const combinedInReverse = combined('the same in reverse order', atOnce.toReversed())

export const attacks: Attack[] = [
  nestedTrees,
  hugeMessages,
  zipBomb,
  pullRefs,
  forgedLines,
  unreadExports,
  unreadPages,
  unreadEntries,
  slowBatches,
  ordinaryBatches,
  pipelinedRequests,
  idleUploads,
  announcedBodies,
  largeEvents,
  entryReads,
  erasures,
  hangingServers,
  slowConnects,
  hostileGlobs,
  editedImport,
  innerAddresses,
  weakKeys,
  leakedSecret,
  hardening,
  hiddenText,
  copiedSecret,
  killedRotation,
  signalFlood,
  stuckWorker,
  largeBody,
  bracketBodies,
  slowTelemetry,
  pipelinedTelemetry,
  hostileTelemetry,
  spanFlood,
  changedAudit,
  wrongKeys,
  combined('unread and pipelined reads, slow and ordinary batches, git bombs', atOnce),
  combinedInReverse,
]

/**
 * For the tests: those that try to slow down others, without those that also run at once. The others check one rule each, which
 * the tests of the server check alone, except for a body that is sent before the response is read.
 */
export const shortAttacks = attacks.filter(
  (attack) => (attack.isLoad || attack === largeBody) && attack !== combinedInReverse && !atOnce.includes(attack),
)
