import { Thumbs } from '@promptledger/client/react'
import { createElement } from 'react'
import { hydrateRoot } from 'react-dom/client'

// What Next.js does in the browser with a component that a server has rendered.
const main = document.querySelector('main') as HTMLElement
const element = main.querySelector('promptledger-thumbs')
const thumbs = createElement(Thumbs, {
  token: element?.getAttribute('token') ?? '',
  endpoint: element?.getAttribute('endpoint') ?? '',
  comment: true,
})
const text = createElement('p', null, main.querySelector('p')?.textContent)
hydrateRoot(main, createElement('article', null, text, thumbs))
