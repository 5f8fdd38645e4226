import { element, visible } from './element.js'
import { currentSession } from './session.js'

/** @type {HTMLDataListElement | null} */
let list = null

/** Suggests the prompts of the organisation, for the fields named prompt_id. All of them share one list. */
export function promptIds() {
  if (list !== null) return ''
  list = element('datalist', { id: 'prompt-ids' })
  // Without suggestions, the field still takes any ID.
  fill(list).catch(() => {})
  return list
}

/** @param {HTMLDataListElement} datalist */
async function fill(datalist) {
  if ((await currentSession()) === null) return
  const response = await fetch('/api/v1/prompts?limit=100')
  if (!response.ok) return
  /** @type {{ data: { id: string, name: string }[] }} */
  const { data } = await response.json()
  datalist.append(...data.map(({ id, name }) => element('option', { value: id, label: visible(name) })))
}
