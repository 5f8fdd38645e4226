'use client'
// app/vote-buttons.tsx: thumbs up and thumbs down for one output of your model. Users can change or withdraw their vote, and
// say why.
import { type FormEvent, useRef, useState } from 'react'

interface Vote {
  value: 'positive' | 'negative' | null
  comment: string
}

const none: Vote = { value: null, comment: '' }

export function VoteButtons({ output, version }: { output: string; version: string }) {
  const [current, setCurrent] = useState(none)
  const [status, setStatus] = useState('')
  // What the server has, what the user sees, and what is on its way.
  const votes = useRef({ saved: none, shown: none, sent: Promise.resolve() }).current

  function show(vote: Vote) {
    votes.shown = vote
    setCurrent(vote)
  }

  // The user sees the vote at once. Requests wait for each other, so that the last click wins.
  function save(vote: Vote, message: string) {
    show(vote)
    votes.sent = votes.sent
      .then(() => post({ output, version, ...vote }))
      .then(() => {
        votes.saved = vote
        setStatus(message)
      })
      .catch(() => {
        setStatus('Your vote was not saved. Please try again.')
        if (votes.shown === vote) show(votes.saved)
      })
  }

  function toggle(value: Vote['value']) {
    if (current.value === value) save({ ...none }, 'Vote withdrawn.')
    else save({ ...current, value }, 'Thank you for your vote.')
  }

  function submitComment(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const comment = String(new FormData(event.currentTarget).get('comment'))
    save({ ...current, comment }, 'Thank you for your comment.')
  }

  const button = (value: Vote['value'], label: string, symbol: string) => {
    const isPressed = current.value === value
    const style = { border: `2px solid ${isPressed ? '#3b82f6' : 'transparent'}`, borderRadius: 8 }
    return (
      <button type="button" style={style} aria-label={label} aria-pressed={isPressed} onClick={() => toggle(value)}>
        {symbol}
      </button>
    )
  }

  return (
    <div>
      {button('positive', 'Good answer', '👍')}
      {button('negative', 'Bad answer', '👎')}
      <span role="status">{status}</span>
      {current.value !== null && (
        <form onSubmit={submitComment}>
          <label>
            What should we know? <textarea name="comment" maxLength={2_000} defaultValue={current.comment} />
          </label>
          <button type="submit">Send comment</button>
        </form>
      )}
    </div>
  )
}

async function post(vote: object): Promise<void> {
  const headers = { 'Content-Type': 'application/json' }
  const response = await fetch('/api/votes', { method: 'POST', headers, body: JSON.stringify(vote) })
  if (!response.ok) throw new Error(`status ${response.status}`)
}
