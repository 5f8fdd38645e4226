import type { Live } from '@promptledger/client'

/** A version that serves an environment, or a part of its traffic. */
export interface LivePlace {
  /** Null if only the merge says that it is live. */
  environment: string | null
  isProduction: boolean
  share: number
  /** Null if it is not known which version the deployed commit has. */
  entryId: number | null
  commitSha: string
}

/** What is live where: production as the service decides it, then the other environments. */
export function livePlaces({ entry, environment, share, also_live: others, environments }: Live): LivePlace[] {
  const production = entry === null ? [] : [{ entry, environment, share }, ...others]
  return [
    ...production.map((version) => ({
      environment: version.environment,
      isProduction: true,
      share: version.share,
      entryId: version.entry.id,
      commitSha: version.entry.commit_sha,
    })),
    ...environments
      .filter((each) => !each.production)
      .flatMap((each) =>
        each.versions.map((version) => ({
          environment: each.environment,
          isProduction: false,
          share: version.share,
          entryId: version.entry?.id ?? null,
          commitSha: version.commit_sha ?? version.entry?.commit_sha ?? '',
        })),
      ),
  ]
}
