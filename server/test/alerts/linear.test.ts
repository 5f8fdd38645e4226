import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, test } from 'node:test'
import { messages, openedMessage, toldPrompt } from '../../../testing/alert-messages.ts'
import { startReceiver } from '../../../testing/receiver.ts'
import { createSendMessage } from '../../src/alerts/send.ts'
import type { Message, RegressionMessage } from '../../src/domain/alerts/message.ts'
import { channelContext, publicUrl, targetOf } from './channel-context.ts'

const apiKey = `lin_api_${'k'.repeat(40)}`
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

interface Issue {
  id: string
  teamId: string
  title: string
  description: string
  state: string
}

/** The operations of Linear's public GraphQL schema that we use. Nothing here was tried against Linear itself. */
async function startLinear() {
  const issues = new Map<string, Issue>()
  const comments = new Map<string, { issueId: string; body: string }>()
  const states = ['unstarted', 'canceled', 'completed'].map((type, position) => ({ id: `to-${type}`, type, position }))
  let losing = 0
  let busy = false
  interface Variables {
    input: Issue & { issueId: string; body: string; stateId: string }
    id: string
    issues: string[]
    comments: string[]
    team: { key: { eq: string } }
  }
  const run = (query: string, variables: Variables) => {
    const { input, id } = variables
    if (query.includes('issueCreate(')) {
      if (issues.has(input.id)) return null
      issues.set(input.id, { ...input, state: 'unstarted' })
      return { issueCreate: { success: true } }
    }
    if (query.includes('commentCreate(')) {
      if (comments.has(input.id)) return null
      comments.set(input.id, { issueId: input.issueId, body: input.body })
      return { commentCreate: { success: true } }
    }
    if (query.includes('issueUpdate(')) {
      const issue = issues.get(id) ?? assert.fail('unknown issue')
      issue.state = input.stateId.slice('to-'.length)
      return { issueUpdate: { success: true } }
    }
    const firstOf = (name: string) =>
      Number(new RegExp(`\\b${name}\\([^)]*first: (\\d+)`).exec(query)?.[1] ?? assert.fail(`all ${name} are read`))
    assert.ok(firstOf('issues') * firstOf('states') + firstOf('comments') <= 1_010, 'the query is expensive')
    const found = variables.issues.flatMap((each) => issues.get(each) ?? []).slice(0, firstOf('issues'))
    const said = variables.comments.filter((each) => comments.has(each)).slice(0, firstOf('comments'))
    return {
      issues: {
        nodes: found.map(({ id, state }) => ({ id, state: { type: state }, team: { states: { nodes: states } } })),
      },
      comments: { nodes: said.map((id) => ({ id })) },
      teams: { nodes: variables.team.key.eq === 'ENG' ? [{ id: 'team-1' }] : [] },
    }
  }
  const respond = (response: ServerResponse) => {
    const { headers, body } = receiver.received.at(-1) ?? assert.fail()
    const answer = (status: number, value: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    if (headers.authorization !== apiKey) {
      return answer(401, {
        errors: [{ message: `no ${headers.authorization}`, extensions: { code: 'AUTHENTICATION_ERROR' } }],
      })
    }
    if (busy) return answer(400, { errors: [{ message: 'Slow down', extensions: { code: 'RATELIMITED' } }] })
    const { query, variables } = JSON.parse(body)
    const data = run(query, variables)
    if (losing > 0 && --losing === 0) return response.destroy()
    return answer(200, data === null ? { data, errors: [{ message: 'Entity exists' }] } : { data })
  }
  const receiver = await startReceiver(respond)
  const send = createSendMessage(channelContext({ linearUrl: `${receiver.url}graphql` }))
  return {
    issues,
    comments,
    /** Does what the request after so many asks, and loses the response. */
    loseResponse(requests: number) {
      losing = requests
    },
    setBusy(value: boolean) {
      busy = value
    },
    send: (message: Message, target = `ENG:${apiKey}`) => send(targetOf('linear', target), 'msg_1', message),
  }
}

function ended(event: RegressionMessage['event']): RegressionMessage {
  return {
    ...openedMessage,
    event,
    prompts: [{ ...toldPrompt, state: event === 'regression.repaired' ? 'repaired' : 'withdrawn' }],
  }
}

describe('An issue in Linear', () => {
  test('a regression has one issue in the team, which says what happened, and mentions no one', async () => {
    const { send, issues, comments } = await startLinear()
    const hostile = {
      ...toldPrompt,
      prompt: { ...toldPrompt.prompt, name: '@all <img src=x> [x](https://evil.example)' },
    }
    assert.equal((await send({ ...openedMessage, prompts: [hostile] })).outcome, 'sent')
    assert.equal((await send(openedMessage)).outcome, 'sent')
    const [issue, ...more] = [...issues.values()]
    assert.deepEqual([more, comments.size, issue?.teamId], [[], 0, 'team-1'])
    assert.match(issue?.id ?? '', uuid)
    assert.match(issue?.title ?? '', /got worse with pull request 42$/)
    assert.match(issue?.description ?? '', /users rate 1 prompt worse since this change/)
    assert.ok(issue?.description.includes(`${publicUrl}/prompts/`))
    // Nothing inside a code span is markup.
    const markup = issue?.description.replaceAll(/`[^`]*`/g, '') ?? ''
    assert.doesNotMatch(markup, /@|evil|<img/)
    assert.doesNotMatch(issue?.title ?? '', /@all|:\/\/evil/)
    for (const { text } of toldPrompt.comments)
      assert.ok(!issue?.description.includes(text), 'comments of users stay here')
  })

  test('its end closes the issue with a comment, and getting worse again opens another one', async () => {
    const { send, issues, comments } = await startLinear()
    const ends = [
      ['regression.repaired', 'completed'],
      ['regression.withdrawn', 'canceled'],
      ['regression.dismissed', 'canceled'],
    ] as const
    for (const [event, state] of [...ends, ...ends, ...ends, ends[0]]) {
      await send(openedMessage)
      assert.equal((await send(ended(event))).outcome, 'sent')
      assert.equal((await send(ended(event))).outcome, 'sent')
      assert.equal([...issues.values()].at(-1)?.state, state)
    }
    await send(openedMessage)
    assert.deepEqual([issues.size, comments.size], [10, 10])
    assert.deepEqual(
      [...comments.values()].map(({ issueId }) => issueId),
      [...issues.keys()],
    )
  })

  test('if any response is lost, there is still one issue with one comment, and it is closed', async () => {
    for (let request = 1; request <= 5; request++) {
      const { send, issues, comments, loseResponse } = await startLinear()
      loseResponse(request)
      let attempts = 0
      for (const message of [openedMessage, ended('regression.repaired')]) {
        do attempts++
        while ((await send(message)).outcome !== 'sent')
      }
      const [issue] = [...issues.values()]
      assert.deepEqual(
        [issues.size, comments.size, issue?.state, attempts],
        [1, 1, 'completed', 3],
        `request ${request}`,
      )
    }
  })

  test('an issue that a person closed is not opened again, nor closed in another way', async () => {
    const { send, issues, comments } = await startLinear()
    await send(openedMessage)
    const [issue] = [...issues.values()]
    if (issue !== undefined) issue.state = 'duplicate'
    await send(openedMessage)
    await send(ended('regression.repaired'))
    assert.deepEqual([issues.size, issue?.state, comments.size], [1, 'duplicate', 1])
  })

  test('a test checks the API key and the team without an issue, and other events are rejected', async () => {
    const { send, issues, setBusy } = await startLinear()
    assert.equal((await send(messages['alert.test'])).outcome, 'sent')
    const unknown = await send(messages['alert.test'], `OPS:${apiKey}`)
    assert.deepEqual([unknown.outcome, unknown.error], ['rejected', 'Linear has no team OPS that the API key can see.'])
    const otherKey = apiKey.replaceAll('k', 'x')
    const refused = await send(openedMessage, `ENG:${otherKey}`)
    assert.deepEqual([refused.outcome, refused.status], ['gone', 401])
    assert.ok(refused.response?.includes('no …') && !refused.response.includes(otherKey), 'the key is not shown')
    assert.equal((await send(messages['limit.near'])).outcome, 'rejected')
    setBusy(true)
    assert.equal((await send(openedMessage)).outcome, 'retry')
    assert.equal(issues.size, 0)
  })
})
