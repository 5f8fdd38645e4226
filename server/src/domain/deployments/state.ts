export const deploymentStates = ['queued', 'in_progress', 'success', 'failure', 'inactive'] as const

/** Only `success` makes a version live, and only `inactive` ends it. */
export type DeploymentState = (typeof deploymentStates)[number]

/** Shares of the traffic are stored in millionths. */
export const wholeShare = 1_000_000
