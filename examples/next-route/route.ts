// app/api/votes/route.ts: records votes from your pages, so that the API key stays on the server.
import { Promptledger, RateLimitedError } from '@promptledger/client'

// Reads PROMPTLEDGER_URL and PROMPTLEDGER_KEY.
const ledger = new Promptledger()

export async function POST(request: Request): Promise<Response> {
  const { prompt, value, trace } = (await request.json()) as {
    prompt: string
    value: 'positive' | 'negative'
    trace: string
  }
  try {
    const signal = await ledger.signals.create(prompt, { value, metadata: { trace } }, { idempotencyKey: trace })
    return Response.json(signal, { status: 201 })
  } catch (error) {
    // The user cannot do anything about the monthly limit, so do not show it as an error.
    if (error instanceof RateLimitedError) return new Response(null, { status: 202 })
    throw error
  }
}
