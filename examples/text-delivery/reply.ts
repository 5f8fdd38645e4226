// Answers with the live text of a prompt, or with the one that a trial chose for the user, and records the user's vote on it.
import { Promptledger } from '@promptledger/client'

const ledger = new Promptledger()
const prompt = process.env.PROMPTLEDGER_PROMPT ?? 'prompts/support-reply.md'
const user = process.argv[2] ?? 'user-42'

// Never fails: without the service, it returns the last text on disk, or the fallback.
const reply = await ledger.prompts.text(prompt, { unit: user, fallback: { text: 'Answer politely.' } })
console.log(JSON.stringify(reply))

// With the text, the vote names the version and the user, which is all that a trial needs.
if (process.argv[3] === 'thumbs-up') await ledger.signals.create(reply, { value: 'positive' })
await ledger.close()
