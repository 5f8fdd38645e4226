import { copyButton } from './copy.js'
import { element, visible } from './element.js'

// More would make the page slow. The rest of a longer response is not even downloaded.
const maxLength = 100_000

/**
 * Shows a response: status, duration, and the body as text.
 *
 * @param {Response} response
 * @param {number} startedAt
 * @returns {Promise<HTMLElement[]>}
 */
export async function showResponse(response, startedAt) {
  const { text, isCut } = await readText(response)
  const elapsedMs = Math.round(performance.now() - startedAt)
  const code = element('code', {}, visible(isCut ? text : formatted(text)))
  const example = element('pre', {}, code)
  const tone = response.ok ? 'good' : 'bad'
  return [
    element(
      'p',
      { class: 'status' },
      element('b', { class: tone }, `${response.status} ${response.statusText}`.trim()),
      ` in ${elapsedMs.toLocaleString('en-GB')} ms`,
      ` · ${response.headers.get('Content-Type') ?? 'no body'}`,
      ` · request ${response.headers.get('X-Request-Id') ?? 'unknown'}`,
    ),
    ...(text === '' ? [] : [example, copyButton(example)]),
    ...(isCut ? [element('p', {}, `Cut after ${maxLength.toLocaleString('en-GB')} characters.`)] : []),
  ]
}

/** @param {Response} response */
async function readText(response) {
  let text = ''
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  while (reader !== undefined && text.length <= maxLength) {
    const { done, value } = await reader.read()
    if (done) return { text, isCut: false }
    text += value
  }
  await reader?.cancel()
  return { text: text.slice(0, maxLength), isCut: reader !== undefined }
}

/**
 * Indents JSON, unless parsing it would change it: numbers of more than 15 digits, for example.
 *
 * @param {string} text
 */
function formatted(text) {
  try {
    const value = JSON.parse(text)
    return JSON.stringify(value) === text ? JSON.stringify(value, null, 2) : text
  } catch {
    return text
  }
}
