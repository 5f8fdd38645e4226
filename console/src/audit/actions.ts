import type { AuditAction } from '@promptledger/client'

/** What each action is called, by what it is about. The order is that of the filter. */
export const actionGroups: Record<string, Partial<Record<AuditAction, string>>> = {
  Organisation: {
    'organisation.renamed': 'Organisation renamed',
    'organisation.plan_changed': 'Plan changed',
    'organisation.segments_changed': 'Segments changed',
    'organisation.delivery_changed': 'Text delivery changed',
    'organisation.evaluations_changed': 'Rules of evaluations changed',
    'organisation.exported': 'Organisation exported',
    'organisation.imported': 'Organisation imported',
    'audit.chained': 'Audit log chained',
    'secrets.reencrypted': 'Secrets re-encrypted',
  },
  'Keys and sessions': {
    'key.created': 'Key created',
    'key.rotated': 'Key rotated',
    'key.revoked': 'Key revoked',
    'key.rejected': 'Revoked or expired key tried',
    'session.started': 'Signed in',
    'session.ended': 'Session ended',
  },
  People: {
    'person.added': 'Person joined',
    'person.role_changed': 'Role of a person changed',
    'person.disabled': 'Person disabled',
    'person.enabled': 'Person enabled',
    'person.deleted': 'Person deleted',
    'invitation.created': 'Invitation created',
    'invitation.revoked': 'Invitation revoked',
  },
  Prompts: {
    'prompt.created': 'Prompt created',
    'prompt.renamed': 'Prompt renamed',
    'prompt.deleted': 'Prompt deleted',
    'prompt.segments_changed': 'Segments of a prompt changed',
    'share.created': 'Share link created',
    'share.revoked': 'Share link revoked',
  },
  'History and deployments': {
    'history.recorded': 'History entry recorded',
    'history.imported': 'History imported',
    'history.exported': 'History exported',
    'deployment.recorded': 'Deployment recorded',
    'regression.dismissed': 'Regression dismissed',
    'regression.triaged': 'Regression taken care of',
    'shift.dismissed': 'Shift dismissed',
    'shift.triaged': 'Shift taken care of',
    'proposal.opened': 'Revert proposed',
    'trial.started': 'Trial started',
    'trial.changed': 'Trial changed',
    'trial.ended': 'Trial ended',
  },
  Signals: {
    'signal.retracted': 'Signal deleted',
    'signals.erased': 'Signals erased',
    'signals.exported': 'Signals exported',
    'signals.imported': 'Signals imported',
  },
  Repositories: {
    'repository.connected': 'Repository connected',
    'repository.updated': 'Repository changed',
    'repository.disconnected': 'Repository disconnected',
    'repository.secret_rotated': 'Webhook secret rotated',
  },
  Sources: {
    'source.added': 'Source added',
    'source.updated': 'Source changed',
    'source.removed': 'Source removed',
  },
  Alerts: {
    'alert.added': 'Alert added',
    'alert.updated': 'Alert changed',
    'alert.removed': 'Alert removed',
    'alert.secret_rotated': 'Secret of an alert rotated',
    'alert.tested': 'Alert tested',
    'alert.delivery_retried': 'Delivery of an alert retried',
  },
}

const labels: Record<string, string> = Object.assign({}, ...Object.values(actionGroups))

export function isAction(text: string | null): text is AuditAction {
  return text !== null && Object.hasOwn(labels, text)
}

/** A later version of the service may have actions that this page does not know. */
export function actionLabel(action: string): string {
  return Object.hasOwn(labels, action) ? (labels[action] as string) : action
}
