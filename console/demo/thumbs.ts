import '@promptledger/client/thumbs'

// The page of `promptledger demo` that plays the part of an application.

const log = document.querySelector('#log') as HTMLElement

for (const thumbs of document.querySelectorAll('promptledger-thumbs')) {
  const { answer = '' } = thumbs.dataset
  thumbs.addEventListener('vote', ({ detail: { value, comment } }) => {
    report(`${answer}: ${value ?? 'withdrawn'}${comment && ` (${comment})`}`)
  })
  thumbs.addEventListener('error', ({ detail: { status, message } }) => {
    report(`${answer}: ${status} ${message}`)
  })
}

function report(text: string): void {
  const item = document.createElement('li')
  item.textContent = text
  log.append(item)
}

// An application would render the tokens with its page, or return them with each answer.
const response = await fetch('/demo/tokens')
const { prompt, tokens }: { prompt: string; tokens: string[] } = await response.json()
document.querySelector('#prompt')?.setAttribute('href', `/prompts/${prompt}/signals`)
for (const [i, thumbs] of document.querySelectorAll('promptledger-thumbs').entries()) {
  thumbs.setAttribute('token', tokens[i % tokens.length] ?? '')
}
