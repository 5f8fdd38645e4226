import type { Message } from '../domain/alerts/message.ts'

/** Names what a message is about: the same in all messages about one change, limit or repository. */
export function threadOf(message: Message): string {
  switch (message.event) {
    case 'regression.opened':
    case 'regression.repaired':
    case 'regression.withdrawn':
    case 'regression.dismissed':
      return message.dedupKey
    case 'shift.unexplained':
      return `shift/${message.prompts.map(({ prompt, shiftedAt }) => `${prompt.publicId}@${shiftedAt}`).join()}`
    case 'limit.near':
    case 'limit.reached':
      return `limit/${message.organisation.id}/${message.month}`
    case 'repository.failing':
    case 'repository.recovered':
      return `repository/${message.repository.id}`
    case 'trial.started':
    case 'trial.better':
    case 'trial.worse':
    case 'trial.stopped':
    case 'trial.mismatch':
      return `trial/${message.trial.id}`
    case 'digest.weekly':
      return `digest/${message.organisation.id}/${message.until}`
    case 'alert.test':
      return `test/${message.organisation.id}/${message.at}`
  }
}
