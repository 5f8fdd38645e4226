import { visibleText } from './untrusted-text.tsx'

/** Downloads a text as a file, byte for byte. */
export function saveText(text: string, name: string): void {
  saveFile(new Blob([text], { type: 'text/plain;charset=utf-8' }), name)
}

/** Downloads something that the page has made. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = visibleText(name)
  link.click()
  // The browser has started the download by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
