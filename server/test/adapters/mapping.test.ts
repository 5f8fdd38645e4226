import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { payloads, slackClick } from '../../../testing/payloads/sources/index.ts'
import { webhookFields } from '../../../testing/sources.ts'
import { adapters } from '../../src/adapters/index.ts'
import { eventsIn, mapEvent, type Outcome } from '../../src/adapters/mapping.ts'
import { type AdapterName, adapterNames, noSettings, type SourceSettings } from '../../src/domain/sources/source.ts'

const ofWebhook: Partial<SourceSettings> = { fields: webhookFields }

function mapped(name: AdapterName, payload: unknown, settings: Partial<SourceSettings> = {}): Outcome[] {
  const all = { ...noSettings, ...(name === 'webhook' && ofWebhook), ...settings }
  return eventsIn(adapters[name], all, payload).map((event) => mapEvent(adapters[name], all, event))
}

const vote = { kind: 'vote', subject: null, voter: null, version: null, comment: null, time: null, id: null }
const ignored = { kind: 'ignored' }
const fixed = { prompt: 'Support' }
const prompt = 'prompts/support.md'

/** What the payload of each product becomes. */
const expected: Record<AdapterName, object[]> = {
  webhook: [{ ...vote, prompt, value: 'positive', subject: 'm-81', voter: 'u-4', comment: 'Thanks!', id: 'fb-1' }],
  slack: [
    {
      ...vote,
      ...fixed,
      value: 'positive',
      subject: 'C123ABC456:1794735000.498405:U123ABC456',
      voter: 'U123ABC456',
      time: '2026-11-15T09:40:00.083Z',
      id: 'Ev123ABC456',
    },
  ],
  langfuse: [
    {
      ...vote,
      prompt,
      value: 'negative',
      subject: 'score-1',
      voter: 'u-4',
      version: '8f3a1c5d',
      comment: 'Too vague',
      time: '2026-11-15T09:30:00.000Z',
    },
  ],
  langsmith: [
    {
      ...vote,
      prompt,
      value: 'positive',
      subject: '6ab80f10-d79c-4fa2-b441-922ed6feb630',
      voter: 'u-4',
      version: '8f3a1c5d',
      time: '2026-11-15T09:29:01.085Z',
    },
    {
      ...vote,
      ...fixed,
      value: 'negative',
      subject: '0b1c7a55-5d9a-4a4e-8b6e-6a3e8a3c9f10',
      time: '2026-11-15T09:31:01.085Z',
    },
    ignored,
  ],
  posthog: [
    {
      ...vote,
      prompt,
      value: 'negative',
      subject: 't-1',
      voter: 'u-4',
      version: 'v12',
      comment: 'Too long',
      time: '2026-11-15T09:30:00.000Z',
      id: '0193a1f2-7c11-7d3e-9a77-0d8f6f5c2b10',
    },
  ],
  intercom: [
    {
      ...vote,
      ...fixed,
      value: 'negative',
      subject: '215468340593',
      voter: '6619dff3',
      comment: 'Did not answer my question',
      time: '2026-11-15T09:40:00.000Z',
      id: 'notif_4e3504a3-ba3f-46dc-ab48-8e4d5bdfdf4e',
    },
  ],
  zendesk: [{ ...vote, ...fixed, value: 'positive', subject: '35436', voter: '20978392', comment: 'Quick and right' }],
  'open-webui': [
    {
      ...vote,
      prompt: 'support-assistant',
      value: 'negative',
      subject: 'chat-1:message-1',
      voter: 'u-4',
      comment: 'Wrong price',
      time: '2026-11-15T09:40:00.000Z',
    },
    {
      ...vote,
      prompt: 'support-assistant',
      value: 'positive',
      subject: 'chat-2:message-9',
      voter: 'u-5',
      time: '2026-11-15T09:31:40.000Z',
    },
  ],
  librechat: [
    ignored,
    {
      ...vote,
      prompt: 'support-assistant',
      value: 'negative',
      subject: 'm-2',
      voter: 'u-4',
      comment: 'The link is dead',
      time: '2026-11-15T09:30:00.000Z',
    },
  ],
}

describe('Adapters', () => {
  for (const name of adapterNames) {
    test(`the payload of ${name} becomes votes with everything that it says`, () => {
      assert.deepEqual(mapped(name, payloads[name], fixed), expected[name])
    })
  }

  test('a click on a Slack button is a vote, a removed reaction withdraws it, and what is not about the bot is ignored', () => {
    const [click] = mapped('slack', slackClick, fixed)
    const subject = 'C123ABC456:1794735000.498405:U123ABC456'
    assert.partialDeepStrictEqual(click, { kind: 'vote', value: 'negative', subject })
    const payload = payloads.slack as { event: object }
    const withEvent = (event: object) => mapped('slack', { ...payload, event: { ...payload.event, ...event } }, fixed)
    assert.partialDeepStrictEqual(withEvent({ type: 'reaction_removed' })[0], { kind: 'vote', value: null, subject })
    assert.deepEqual(withEvent({ reaction: 'eyes' }), [ignored])
    assert.deepEqual(withEvent({ item_user: 'U999999999' }), [ignored], 'a message of a person')
    assert.deepEqual(withEvent({ type: 'message' }), [ignored])
  })

  test('the middle of a scale is ignored, and the settings decide before the adapter', () => {
    const rated = (rating: unknown) => ({ id: 'e', prompt, rating })
    const values = (settings: Partial<SourceSettings>, ...ratings: unknown[]) =>
      ratings.map((rating) => {
        const [outcome] = mapped('webhook', rated(rating), { ...ofWebhook, ...settings })
        return outcome?.kind === 'vote' ? outcome.value : outcome?.kind
      })
    assert.deepEqual(values({ midpoint: 3 }, 5, 4, 3, 2, '1'), [
      'positive',
      'positive',
      'ignored',
      'negative',
      'negative',
    ])
    assert.deepEqual(values({}, true, false, 'Thumbs_Up', -1, 'meh'), [
      'positive',
      'negative',
      'positive',
      'negative',
      'rejected',
    ])
    const own = { positive: ['Hilfreich'], negative: ['1'], midpoint: 0 }
    assert.deepEqual(values(own, 'hilfreich', 1, 2), ['positive', 'negative', 'positive'])
    const [conversation] = mapped('intercom', { ...(payloads.intercom as object), topic: 'ping' }, fixed)
    assert.deepEqual(conversation, ignored)
  })

  test('an event that lacks something is rejected, with the reason and no more of its text than a few words', () => {
    const reasonOf = (event: object, settings: Partial<SourceSettings> = {}) => {
      const [outcome] = mapped('webhook', event, { ...ofWebhook, ...settings })
      return outcome?.kind === 'rejected' ? outcome.reason : outcome?.kind
    }
    assert.equal(reasonOf({ id: 'e', prompt }), 'it has no value')
    assert.equal(reasonOf({ id: 'e', rating: 'up' }), 'it names no prompt, and the source has none')
    assert.equal(reasonOf({ prompt, rating: 'up' }), 'it has no ID and no subject, so it could count twice')
    assert.equal(
      reasonOf({ id: 'e', prompt, rating: `a\n${'b'.repeat(99)}` }),
      `the value "a ${'b'.repeat(38)}" is not known`,
    )
    assert.equal(
      reasonOf({ id: 'e', prompt, rating: 'up', comment: 'soon' }, { fields: { ...webhookFields, time: '$.comment' } }),
      'the time "soon" is not readable',
    )
    assert.equal(reasonOf(['up']), 'it has no value')
  })
})
