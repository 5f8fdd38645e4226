/**
 * Shows hidden characters, such as those that reverse the direction of text, as `\\u202e`.
 *
 * @param {string} text
 */
export function visible(text) {
  return text.replaceAll(
    /\p{Cf}/gu,
    (character) => `\\u${character.codePointAt(0)?.toString(16).padStart(4, '0') ?? ''}`,
  )
}

/**
 * Creates an element. Text only ever becomes text: nothing here, and no other file of this folder, parses HTML.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | boolean>} attributes `true` sets an attribute without a value, `false` leaves it out.
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, attributes = {}, ...children) {
  const created = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) created.setAttribute(name, value === true ? '' : value)
  }
  created.append(...children)
  return created
}
