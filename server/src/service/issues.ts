import type { Attempt } from '../domain/alerts/channel.ts'
import {
  isReportedOnPull,
  opensIssues,
  proposesItself,
  type ReportIssue,
  type ReportOnPull,
} from '../domain/alerts/pull-comment.ts'
import type { Store } from '../domain/store.ts'

/** Opens and closes issues beside the reports on pull requests, where the repository asks for that. */
export function withIssues(
  report: ReportOnPull,
  { store, reportIssue }: { store: Store; reportIssue: ReportIssue },
): ReportOnPull {
  return async (message) => {
    if (!('dedupKey' in message) || message.repositoryId === null) return report(message)
    const repository = await store.repositories.find(message.repositoryId)
    const isAsked = repository?.organisationId === message.organisation.id && opensIssues(repository)
    if (!isAsked) return report(message)
    const isReported =
      isReportedOnPull(repository) || (proposesItself(repository) && message.event === 'regression.opened')
    // At the same time, because each may take as long as an attempt may.
    const [reported, issue] = await Promise.all([isReported ? report(message) : null, reportIssue(repository, message)])
    const isNews = issue.outcome !== 'retry' && (issue.error !== null || reported === null)
    if (isNews) await store.pullComments.recordError(repository, issue.error)
    return reported === null ? issue : together(reported, issue)
  }
}

/** One part is enough to count as told, because the end has to be told too. */
function together(...attempts: [Attempt, Attempt]): Attempt {
  const failed = attempts.filter(({ outcome }) => outcome !== 'sent')
  const error = attempts.flatMap((attempt) => attempt.error ?? []).join(' ') || null
  const waiting = failed.find(({ outcome }) => outcome === 'retry')
  const [first, second] = attempts
  // Without a status, what waits for another attempt counts as told.
  if (waiting !== undefined) return { ...waiting, status: failed.length === 1 ? null : waiting.status, error }
  return { ...(first.outcome === 'sent' ? first : second), error }
}
