import type { Source } from '@promptledger/client'

export type AdapterName = Source['adapter']

interface Adapter {
  label: string
  /** What of it becomes signals. */
  what: string
  /** Where its own secret is; null if we generate one. */
  secretHint: string | null
  /** What to do with the URL and the secret, step by step. */
  steps: string[]
}

const signedByScript = [
  'Sign the file with the secret: "sha256=" and the hexadecimal HMAC-SHA256 of its bytes.',
  'Post it to the URL, with the signature in the header X-Promptledger-Signature. Run it again as often as you like: votes count once.',
]

/** In the order of the form. */
export const adapters: Record<AdapterName, Adapter> = {
  webhook: {
    label: 'Any webhook',
    what: 'JSON that your system posts, with a path for each field.',
    secretHint: null,
    steps: [
      'Post events as JSON to the URL, one or an array of them.',
      'Send the header X-Promptledger-Signature: "sha256=" and the hexadecimal HMAC-SHA256 of the body with the secret.',
    ],
  },
  slack: {
    label: 'Slack',
    what: 'Reactions to messages of your bot, and feedback buttons below them.',
    secretHint: 'Signing Secret, on the page Basic Information of your Slack app. It is stored encrypted.',
    steps: [
      'In your Slack app, open Event Subscriptions, enable events and paste the URL. Slack checks it at once.',
      'Subscribe to the bot events reaction_added and reaction_removed, and save.',
      'For buttons, open Interactivity & Shortcuts, switch it on and paste the same URL.',
    ],
  },
  langfuse: {
    label: 'Langfuse',
    what: 'Scores of people, with the prompt and version of their generation. It is polled every minute.',
    secretHint: 'The public and the secret API key of the project, as pk-lf-…:sk-lf-…. They are stored encrypted.',
    steps: [
      'In the settings of your Langfuse project, create an API key.',
      'Save the public and the secret key here, joined by a colon, with Edit.',
      'Name your prompts like those of Langfuse. Their versions become changes, and scores of the last 30 days are read first.',
    ],
  },
  langsmith: {
    label: 'LangSmith',
    what: 'User scores of runs, sent by an automation rule.',
    secretHint: null,
    steps: [
      'In your tracing project, add an automation rule with the action webhook, and paste the URL.',
      'Add the header Authorization with the value "Bearer" and the secret.',
      'If your feedback key is not user_score, set the path of the value, such as $.feedback_stats.thumbs.avg.',
    ],
  },
  posthog: {
    label: 'PostHog',
    what: 'Events of your application, or answers to a thumbs survey.',
    secretHint: null,
    steps: [
      'Open Data pipelines, add the destination HTTP Webhook and paste the URL. Keep the default body.',
      'Add the header Authorization with the value "Bearer" and the secret.',
      'Filter for the events that are feedback, and enable it.',
    ],
  },
  intercom: {
    label: 'Intercom',
    what: 'Ratings of conversations: 4 and 5 are positive, 1 and 2 negative.',
    secretHint:
      'Client secret, on the page Basic information of your app in the Developer Hub. It is stored encrypted.',
    steps: [
      'In the Developer Hub, open your app, then Webhooks, and paste the URL.',
      'Select the topic conversation.rating.added, and save.',
    ],
  },
  zendesk: {
    label: 'Zendesk',
    what: 'Satisfaction ratings of tickets, sent by two triggers.',
    secretHint: 'Signing secret of the webhook, which Zendesk shows once the webhook exists. You can set it later.',
    steps: [
      'In the Admin Center, create a webhook with the URL, the method POST and the format JSON.',
      'Reveal its signing secret and save it here with Edit.',
      'Add a trigger for "Satisfaction is Good" that notifies the webhook with {"rating":"good","ticket_id":"{{ticket.id}}","requester_id":"{{ticket.requester.id}}","comment":"{{satisfaction.current_comment}}"}.',
      'Add another for "Satisfaction is Bad", with "rating":"bad".',
    ],
  },
  'open-webui': {
    label: 'Open WebUI',
    what: 'The export of feedbacks. A prompt is found by the ID of its model.',
    secretHint: null,
    steps: ['In the Admin Panel, open Evaluations, Feedbacks, and export them.', ...signedByScript],
  },
  librechat: {
    label: 'LibreChat',
    what: 'Messages with feedback. A prompt is found by the name of its model.',
    secretHint: null,
    steps: ['Export a conversation as JSON, or the collection messages of its database.', ...signedByScript],
  },
}

export const adapterNames = Object.keys(adapters) as AdapterName[]
