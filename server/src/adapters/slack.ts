import { type Adapter, commonValues } from './adapter.ts'

/** Reactions to messages of a bot (Events API), and feedback buttons below them (interactivity). */
export const slack: Adapter = {
  name: 'slack',
  authentication: {
    kind: 'hmac',
    algorithm: 'sha256',
    encoding: 'hex',
    header: 'x-slack-signature',
    prefix: 'v0=',
    timestamp: { header: 'x-slack-request-timestamp', signed: (timestamp) => `v0:${timestamp}:` },
  },
  only: {
    at: { any: ['$.event.type', '$.type'] },
    in: ['reaction_added', 'reaction_removed', 'block_actions'],
  },
  // The app also sees reactions to what people write to each other. Button clicks have neither, and are equal.
  same: ['$.event.item_user', '$.authorizations[0].user_id'],
  withdraws: { at: '$.event.type', is: 'reaction_removed' },
  isMixed: true,
  challenge: { at: '$.type', is: 'url_verification', member: 'challenge' },
  fields: {
    value: { any: ['$.event.reaction', '$.actions[0].value'] },
    // Everyone has a vote of their own on a message.
    subject: {
      any: [
        { all: ['$.event.item.channel', '$.event.item.ts', '$.event.user'] },
        { all: ['$.container.channel_id', '$.container.message_ts', '$.user.id'] },
      ],
    },
    voter: { any: ['$.event.user', '$.user.id'] },
    time: { any: ['$.event.event_ts', '$.actions[0].action_ts'] },
    id: { any: ['$.event_id', { all: ['$.container.message_ts', '$.actions[0].action_ts', '$.user.id'] }] },
  },
  values: {
    ...commonValues,
    '+1': 'positive',
    heart: 'positive',
    tada: 'positive',
    white_check_mark: 'positive',
    x: 'negative',
  },
  suffix: /::skin-tone-\d$/,
}
