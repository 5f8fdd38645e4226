import type { AdapterName } from '../../../server/src/domain/sources/source.ts'

/**
 * What each product sends, shaped after its public documentation or source, which is named beside it. Names, texts and IDs are ours.
 * Nothing was recorded from, or tried against, the products themselves.
 */
export const payloads: Record<AdapterName, unknown> = {
  // Ours: the example of docs/sources.md.
  webhook: {
    id: 'fb-1',
    prompt: 'prompts/support.md',
    rating: 'up',
    message_id: 'm-81',
    user: 'u-4',
    comment: 'Thanks!',
  },

  // https://docs.slack.dev/reference/events/reaction_added, with its wrapper. The bot is U222222222.
  slack: {
    token: 'XXYYZZ',
    team_id: 'T123ABC456',
    api_app_id: 'A123ABC456',
    event: {
      type: 'reaction_added',
      user: 'U123ABC456',
      reaction: '+1::skin-tone-3',
      item_user: 'U222222222',
      item: { type: 'message', channel: 'C123ABC456', ts: '1794735000.498405' },
      event_ts: '1794735600.083113',
    },
    type: 'event_callback',
    authorizations: [{ team_id: 'T123ABC456', user_id: 'U222222222', is_bot: true, is_enterprise_install: false }],
    event_id: 'Ev123ABC456',
    event_time: 1_794_735_600,
  },

  // GET /api/public/v2/scores (https://api.reference.langfuse.com), with the prompt that the poll adds from its observation.
  langfuse: {
    id: 'score-1',
    traceId: 'trace-1',
    observationId: 'observation-1',
    name: 'user-feedback',
    source: 'API',
    dataType: 'BOOLEAN',
    value: 0,
    stringValue: 'False',
    comment: 'Too vague',
    timestamp: '2026-11-15T09:30:00.000Z',
    trace: { userId: 'u-4', tags: [], environment: 'production' },
    prompt: { name: 'prompts/support.md', version: '8f3a1c5d' },
  },

  // https://docs.langchain.com/langsmith/webhooks: the example payload, cut, with feedback of two runs and none of the third.
  langsmith: {
    rule_id: 'd75d7417-0c57-4655-88fe-1db3cda3a47a',
    start_time: '2026-11-15T09:28:54.734491+00:00',
    end_time: '2026-11-15T09:38:56.492563+00:00',
    runs: [
      {
        status: 'success',
        is_root: true,
        trace_id: '6ab80f10-d79c-4fa2-b441-922ed6feb630',
        run_type: 'chain',
        name: 'Support',
        start_time: '2026-11-15T09:28:54.085646',
        end_time: '2026-11-15T09:29:01.085649',
        id: '6ab80f10-d79c-4fa2-b441-922ed6feb630',
        extra: { metadata: { lc_hub_repo: 'prompts/support.md', lc_hub_commit_hash: '8f3a1c5d', user_id: 'u-4' } },
        feedback_stats: { user_score: { n: 1, avg: 1.0, show_feedback_arrow: false, values: {} } },
      },
      {
        id: '0b1c7a55-5d9a-4a4e-8b6e-6a3e8a3c9f10',
        name: 'Support',
        start_time: '2026-11-15T09:30:54.085646',
        end_time: '2026-11-15T09:31:01.085649',
        extra: null,
        feedback_stats: {
          user_score: { n: 2, avg: 0.0, show_feedback_arrow: false, values: {} },
          category: { n: 0, avg: null, show_feedback_arrow: true, values: { CONCEPTUAL: 1 } },
        },
      },
      {
        id: '7f6a33f1-2c48-44de-9f6d-1a4f0e7b1c22',
        name: 'Search',
        end_time: '2026-11-15T09:32:01',
        feedback_stats: null,
      },
    ],
  },

  // The default body {"event": "{event}", "person": "{person}"} of posthog/cdp/templates/webhook/template_webhook.py, and the event of
  // https://posthog.com/docs/cdp/destinations/customizing-destinations.
  posthog: {
    event: {
      uuid: '0193a1f2-7c11-7d3e-9a77-0d8f6f5c2b10',
      event: 'answer rated',
      distinct_id: 'u-4',
      timestamp: '2026-11-15T09:30:00.000Z',
      properties: {
        prompt: 'prompts/support.md',
        prompt_version: 'v12',
        value: 'down',
        comment: 'Too long',
        $ai_trace_id: 't-1',
      },
      url: 'https://us.posthog.com/project/1/events/0193a1f2',
    },
    person: { id: 'p-1', name: 'max@example.com', properties: { email: 'max@example.com' } },
  },

  // https://developers.intercom.com/docs/webhooks: a notification_event with a conversation, whose rating is the Conversation Rating Model.
  intercom: {
    type: 'notification_event',
    app_id: 'a86dr8yl',
    data: {
      type: 'notification_event_data',
      item: {
        type: 'conversation',
        id: '215468340593',
        conversation_rating: {
          rating: 2,
          remark: 'Did not answer my question',
          created_at: 1_794_735_000,
          updated_at: 1_794_735_600,
          contact: { type: 'contact', id: '6619dff3' },
          teammate: { type: 'admin', id: '814860' },
        },
      },
    },
    topic: 'conversation.rating.added',
    id: 'notif_4e3504a3-ba3f-46dc-ab48-8e4d5bdfdf4e',
    created_at: 1_794_735_601,
  },

  // Ours: a trigger sends the body that docs/sources.md says. Signed as https://developer.zendesk.com/documentation/webhooks/verifying/ does.
  zendesk: { rating: 'good', comment: 'Quick and right', ticket_id: '35436', requester_id: '20978392' },

  // Rows of GET /api/v1/evaluations/feedbacks/all/export: FeedbackModel in backend/open_webui/models/feedbacks.py of open-webui.
  'open-webui': [
    {
      id: 'c6c4d1b2-51e3-4a7e-9d0b-0d6f2e6a3a01',
      user_id: 'u-4',
      version: 0,
      type: 'rating',
      data: {
        rating: -1,
        model_id: 'support-assistant',
        reason: 'not_helpful',
        comment: 'Wrong price',
        tags: ['Support'],
      },
      meta: { arena: false, chat_id: 'chat-1', message_id: 'message-1', message_index: 2 },
      snapshot: { chat: { title: 'not read' } },
      created_at: 1_794_735_000,
      updated_at: 1_794_735_600,
    },
    {
      id: 'c6c4d1b2-51e3-4a7e-9d0b-0d6f2e6a3a02',
      user_id: 'u-5',
      version: 0,
      type: 'rating',
      data: { rating: 1, model_id: 'support-assistant', reason: '' },
      meta: { chat_id: 'chat-2', message_id: 'message-9' },
      snapshot: null,
      created_at: 1_794_735_100,
      updated_at: 1_794_735_100,
    },
  ],

  // Messages as packages/data-schemas/src/schema/message.ts of LibreChat has them, with the feedback of packages/data-provider/src/feedback.ts.
  librechat: {
    conversationId: 'conversation-1',
    title: 'not read',
    messages: [
      { messageId: 'm-1', user: 'u-4', isCreatedByUser: true, text: 'not read', createdAt: '2026-11-15T09:29:00.000Z' },
      {
        messageId: 'm-2',
        user: 'u-4',
        model: 'support-assistant',
        isCreatedByUser: false,
        text: 'not read',
        feedback: { rating: 'thumbsDown', tag: 'inaccurate', text: 'The link is dead' },
        createdAt: '2026-11-15T09:29:10.000Z',
        updatedAt: '2026-11-15T09:30:00.000Z',
      },
    ],
  },
}

// https://docs.slack.dev/reference/interaction-payloads/block_actions-payload: a click on a button below a message of the bot.
export const slackClick = {
  type: 'block_actions',
  user: { id: 'U123ABC456', username: 'ada', team_id: 'T123ABC456' },
  api_app_id: 'A123ABC456',
  container: { type: 'message', message_ts: '1794735000.498405', channel_id: 'C123ABC456', is_ephemeral: false },
  trigger_id: '12466734323.1395872398',
  channel: { id: 'C123ABC456', name: 'support' },
  actions: [
    { action_id: 'feedback', block_id: 'b1', type: 'button', value: 'negative', action_ts: '1794735600.083113' },
  ],
}
