import type { Message } from '../domain/alerts/message.ts'

/** Names what a message is about: the same in all messages about one change, limit or repository. */
export function threadOf(message: Message): string {
  if ('dedupKey' in message) return message.dedupKey
  if ('trial' in message) return `trial/${message.trial.id}`
  switch (message.event) {
    case 'shift.unexplained':
      return `shift/${message.prompts.map(({ prompt, shiftedAt }) => `${prompt.publicId}@${shiftedAt}`).join()}`
    case 'limit.near':
    case 'limit.reached':
      return `limit/${message.organisation.id}/${message.month}`
    case 'repository.failing':
    case 'repository.recovered':
      return `repository/${message.repository.id}`
    case 'digest.weekly':
      return `digest/${message.organisation.id}/${message.until}`
    case 'alert.test':
      return `test/${message.organisation.id}/${message.at}`
  }
}
