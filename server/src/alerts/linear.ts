import { hash } from 'node:crypto'
import type { Attempt, Target } from '../domain/alerts/channel.ts'
import type { Message, RegressionMessage } from '../domain/alerts/message.ts'
import { sendRequest } from '../net/request.ts'
import { attemptOf, rejected, sent } from './attempt.ts'
import type { ChannelContext } from './context.ts'
import { closingText, issueText, issueTitle } from './issue-text.ts'
import { threadOf } from './thread.ts'

// How often the same change can be over and get worse again. Each time has an issue.
const maxIssues = 10
const maxDescriptionLength = 20_000
const maxResponseBytes = 256 * 1024

/** Opens an issue in Linear for a regression, and closes it with a comment when the regression is over. A test only reads the team. */
export async function sendLinear(context: ChannelContext, target: Target, message: Message): Promise<Attempt> {
  const [team = '', apiKey = ''] = target.target.split(':')
  const ask = (query: string, variables: object) => request(context, apiKey, query, variables)
  if (message.event !== 'alert.test' && !('dedupKey' in message)) {
    return rejected(null, 'Linear only takes regressions.')
  }
  const ids = idsOf(target, team, message)
  const { attempt, data } = await ask(findQuery, {
    issues: ids.map(({ issue }) => issue),
    comments: ids.map(({ comment }) => comment),
    team: isUuid.test(team) ? { id: { eq: team } } : { key: { eq: team } },
  })
  if (data === null) return attempt
  const found = data as Found
  const [known] = found.teams?.nodes ?? []
  if (known === undefined) return rejected(attempt.status, `Linear has no team ${team} that the API key can see.`)
  if (message.event === 'alert.test') return attempt
  const nodes = found.issues?.nodes ?? []
  const last = ids.findLastIndex(({ issue }) => nodes.some(({ id }) => id === issue))
  const isSaid = (found.comments?.nodes ?? []).some(({ id }) => id === ids[last]?.comment)
  if (message.event === 'regression.opened') {
    const next = ids[last + 1]
    // Ours is open, or a person closed it.
    if ((last >= 0 && !isSaid) || next === undefined) return attempt
    const description = issueText(message, context.publicUrl(), [closesItself], maxDescriptionLength)
    const input = { id: next.issue, teamId: known.id, title: issueTitle(message), description }
    return (await ask(createMutation, { input })).attempt
  }
  const issue = nodes.find(({ id }) => id === ids[last]?.issue)
  if (issue === undefined) return attempt
  if (!isSaid) {
    const input = { id: ids[last]?.comment, issueId: issue.id, body: closingText(message) }
    const said = await ask(commentMutation, { input })
    if (said.data === null) return said.attempt
  }
  const stateId = closedStateOf(issue, message)
  if (stateId === null) return attempt
  return (await ask(closeMutation, { id: issue.id, input: { stateId } })).attempt
}

const closesItself =
  '_Promptledger closes this issue when users rate the prompt as before, or the verdict is taken back._'

// Without `first`, Linear counts 50 nodes each, which makes a query four times as expensive.
const findQuery = `query ($issues: [ID!]!, $comments: [ID!]!, $team: TeamFilter!) {
  issues(filter: { id: { in: $issues } }, first: ${maxIssues}, includeArchived: true) {
    nodes { id state { type } team { states(first: 100) { nodes { id type position } } } }
  }
  comments(filter: { id: { in: $comments } }, first: ${maxIssues}, includeArchived: true) { nodes { id } }
  teams(filter: $team, first: 1) { nodes { id } }
}`

const createMutation = 'mutation ($input: IssueCreateInput!) { issueCreate(input: $input) { success } }'
const commentMutation = 'mutation ($input: CommentCreateInput!) { commentCreate(input: $input) { success } }'
const closeMutation =
  'mutation ($id: String!, $input: IssueUpdateInput!) { issueUpdate(id: $id, input: $input) { success } }'

interface Found {
  issues?: { nodes: Issue[] }
  comments?: { nodes: { id: string }[] }
  teams?: { nodes: { id: string }[] }
}

interface Issue {
  id: string
  state?: { type: string }
  team?: { states: { nodes: { id: string; type: string; position: number }[] } }
}

const isUuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The state that closes the issue in its team, which a person may have changed. Null if it is closed already. */
function closedStateOf({ state, team }: Issue, { event }: RegressionMessage): string | null {
  if (state !== undefined && ['completed', 'canceled', 'duplicate'].includes(state.type)) return null
  const states = (team?.states.nodes ?? []).toSorted((a, b) => a.position - b.position)
  const wanted = event === 'regression.repaired' ? ['completed', 'canceled'] : ['canceled', 'completed']
  for (const type of wanted) {
    const found = states.find((each) => each.type === type)
    if (found !== undefined) return found.id
  }
  return null
}

/**
 * The IDs of the issues about a change and of the comments that close them, which we choose: an attempt whose response was lost finds what
 * it created, and nothing has to be stored. The ID of the alert, which outsiders do not know, keeps others from using them first.
 */
function idsOf({ alertId }: Target, team: string, message: Message): { issue: string; comment: string }[] {
  const thread = threadOf(message)
  const idOf = (kind: string, round: number) => uuidOf(JSON.stringify([alertId, team, thread, kind, round]))
  return Array.from({ length: maxIssues }, (_, i) => ({ issue: idOf('issue', i), comment: idOf('comment', i) }))
}

/** Linear accepts version 4 only. */
function uuidOf(text: string): string {
  const digits = hash('sha256', text)
  const variant = ((Number.parseInt(digits[16] as string, 16) & 3) | 8).toString(16)
  const parts = [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(13, 16)}`,
    `${variant}${digits.slice(17, 20)}`,
  ]
  return [...parts, digits.slice(20, 32)].join('-')
}

interface GraphQlBody {
  data?: object | null
  errors?: { extensions?: { code?: string; type?: string } }[]
}

/** `data` is null unless Linear did what it was asked. */
async function request(
  { network, linearUrl = 'https://api.linear.app/graphql' }: ChannelContext,
  apiKey: string,
  query: string,
  variables: object,
): Promise<{ attempt: Attempt; data: object | null }> {
  const headers = { 'content-type': 'application/json', authorization: apiKey }
  const body = JSON.stringify({ query, variables })
  let data: object | null = null
  const result = await sendRequest(network, linearUrl, { method: 'POST', headers, body, maxResponseBytes })
  const attempt = attemptOf(result, ({ status, body, isTruncated }) => {
    const answer = isTruncated ? null : parsed(body)
    const codes = (answer?.errors ?? []).flatMap(({ extensions }) => [extensions?.code, extensions?.type])
    if (status === 401 || codes.includes('AUTHENTICATION_ERROR') || codes.includes('authentication error')) {
      return { outcome: 'gone', error: 'Linear does not accept the API key. Create a new one, and change the target.' }
    }
    if (status === 429 || codes.includes('RATELIMITED') || codes.includes('ratelimited')) {
      return { outcome: 'retry', error: 'Linear accepts no more requests for a while.' }
    }
    const isDone = status === 200 && answer?.data != null && (answer.errors ?? []).length === 0
    if (!isDone || !isSuccess(answer.data as object)) {
      return { outcome: 'retry', error: `Linear responded with ${status} and did not do what it was asked.` }
    }
    data = answer.data as object
    return sent
  })
  return { attempt, data }
}

function isSuccess(data: object): boolean {
  return Object.values(data).every((each: { success?: boolean } | null) => each !== null && each.success !== false)
}

function parsed(text: string): GraphQlBody | null {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? body : null
  } catch {
    return null
  }
}
