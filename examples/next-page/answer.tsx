// app/answer.tsx: one output of your model, with thumbs. A server component: the signing key never reaches the browser.
import { Promptledger } from '@promptledger/client'
import { Thumbs } from '@promptledger/client/react'

let client: Promptledger | undefined

interface AnswerProps {
  /** ID of the output. There is one vote for each: a further one replaces it. */
  id: string
  text: string
  /** The commit that the prompt was deployed from when it produced the output. */
  version: string
  /** The user who may vote. Use your own sign-in. */
  user: string
}

export async function Answer({ id, text, version, user }: AnswerProps) {
  // Reads PROMPTLEDGER_SIGNING_KEY. Not when the module loads: `next build` loads it without the key.
  client ??= new Promptledger()
  // The ID of the prompt. Signing sends no request, so it cannot look up a name.
  const prompt = process.env.PROMPTLEDGER_PROMPT ?? ''
  const token = await client.tokens.sign({ prompt, version, subject: id, voter: user })
  return (
    <article>
      <p>{text}</p>
      <Thumbs token={token} endpoint={process.env.PROMPTLEDGER_URL} comment />
    </article>
  )
}
