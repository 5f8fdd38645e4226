import type { Channel } from '@promptledger/client'

export const channels: Channel[] = [
  'webhook',
  'cloudevents',
  'slack',
  'teams',
  'discord',
  'email',
  'pagerduty',
  'linear',
]

/** The channels whose requests are signed with a secret. */
export const signedChannels: Channel[] = ['webhook', 'cloudevents']

export const channelLabels: Record<Channel, string> = {
  webhook: 'Webhook',
  cloudevents: 'CloudEvents',
  slack: 'Slack',
  teams: 'Microsoft Teams',
  discord: 'Discord',
  email: 'Email',
  pagerduty: 'PagerDuty',
  linear: 'Linear',
}

interface TargetField {
  label: string
  hint: string
  placeholder: string
  /** Whether anyone who knows the target can post to it. */
  isSecret: boolean
}

/** How the form asks for the target of each channel. */
export const targetFields: Record<Channel, TargetField> = {
  webhook: {
    label: 'URL',
    hint: 'Receives signed JSON by POST. Must be reachable from the service.',
    placeholder: 'https://example.com/promptledger',
    isSecret: false,
  },
  cloudevents: {
    label: 'URL',
    hint: 'Receives signed CloudEvents by POST, in structured mode. Must be reachable from the service.',
    placeholder: 'https://example.com/events',
    isSecret: false,
  },
  slack: {
    label: 'Incoming webhook URL',
    hint: 'From the settings of your Slack app: Incoming Webhooks, Add New Webhook. It is stored encrypted.',
    placeholder: 'https://hooks.slack.com/services/…',
    isSecret: true,
  },
  teams: {
    label: 'Workflow URL',
    hint: 'From a workflow in Teams: “Post to a channel when a webhook request is received”. It is stored encrypted.',
    placeholder: 'https://…/workflows/…',
    isSecret: true,
  },
  discord: {
    label: 'Webhook URL',
    hint: 'From the settings of a Discord channel: Integrations, Webhooks, New Webhook. It is stored encrypted.',
    placeholder: 'https://discord.com/api/webhooks/…',
    isSecret: true,
  },
  email: {
    label: 'Email addresses',
    hint: 'Separated by commas. The operator of the service has to set up a mail server.',
    placeholder: 'team@example.com, on-call@example.com',
    isSecret: false,
  },
  pagerduty: {
    label: 'Routing key',
    hint: 'The integration key of a service with the integration “Events API v2”. It is stored encrypted.',
    placeholder: '',
    isSecret: true,
  },
  linear: {
    label: 'Team and API key',
    hint: 'The key or ID of a team, a colon, and a personal API key with the permission to write. Gets one issue for each regression, and no other events. It is stored encrypted.',
    placeholder: 'ENG:lin_api_…',
    isSecret: true,
  },
}
