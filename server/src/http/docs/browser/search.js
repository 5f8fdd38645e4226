import { element } from './element.js'

/** Adds a field to the contents that shows only matching entries: by name, path or operation ID. */
export function addSearch() {
  const nav = /** @type {HTMLElement} */ (document.querySelector('nav'))
  const field = element('input', {
    type: 'search',
    placeholder: 'Find an operation',
    'aria-label': 'Find an operation',
  })
  const status = element('p', { role: 'status', class: 'found' })
  const groups = [...nav.querySelectorAll('ul')].map((list) => ({
    list,
    heading: /** @type {HTMLElement} */ (list.previousElementSibling),
    items: [...list.querySelectorAll('li')].map((item) => ({ item, text: searchedText(item) })),
  }))
  field.addEventListener('input', () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean)
    let found = 0
    for (const { list, heading, items } of groups) {
      let isEmpty = true
      for (const { item, text } of items) {
        const matches = words.every((word) => text.includes(word))
        item.hidden = !matches
        if (matches) found++
        isEmpty &&= !matches
      }
      list.hidden = isEmpty
      heading.hidden = isEmpty
    }
    status.textContent = words.length === 0 ? '' : `${found} found`
  })
  nav.querySelector('.back')?.after(field, status)
}

/** @param {HTMLElement} item */
function searchedText(item) {
  const link = item.querySelector('a')
  return `${link?.textContent} ${link?.title} ${link?.hash}`.toLowerCase()
}
