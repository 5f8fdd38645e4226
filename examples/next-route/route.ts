// app/api/votes/route.ts: records the votes of vote-buttons.tsx, so that the API key stays on the server.
import { NotFoundError, Promptledger, RateLimitedError, ValidationError } from '@promptledger/client'

let client: Promptledger | undefined
// The ID, name or path of the prompt.
const prompt = process.env.PROMPTLEDGER_PROMPT ?? ''

interface Vote {
  /** ID of the model's output, long and random, so that users cannot guess those of others. */
  output: string
  /** The commit that the prompt was deployed from when it produced the output. */
  version: string
  value: 'positive' | 'negative' | null
  comment: string
}

export async function POST(request: Request): Promise<Response> {
  const { output, version, value, comment } = (await request.json()) as Vote
  // Without a subject, every request would count as another vote.
  if (typeof output !== 'string') return new Response(null, { status: 422 })
  // Reads PROMPTLEDGER_URL and PROMPTLEDGER_KEY. Not when the module loads: `next build` loads it without them.
  client ??= new Promptledger()
  const { signals } = client
  try {
    if (value === null) {
      await signals.withdraw(prompt, output)
    } else {
      // There is one vote for each subject: a further one replaces it.
      const vote = { value, subject: output, version, voter: userOf(request), comment: comment || null }
      await signals.create(prompt, vote)
    }
    return new Response(null, { status: 204 })
  } catch (error) {
    // The user cannot do anything about the monthly limit, so do not show it as an error.
    if (error instanceof RateLimitedError) return new Response(null, { status: 202 })
    // The vote to withdraw was over the limit.
    if (error instanceof NotFoundError && value === null) return new Response(null, { status: 204 })
    if (error instanceof ValidationError) return new Response(null, { status: 422 })
    throw error
  }
}

/** Use your own sign-in here. */
function userOf(request: Request): string | null {
  return /(?:^|; )user=([\w-]+)/.exec(request.headers.get('cookie') ?? '')?.[1] ?? null
}
