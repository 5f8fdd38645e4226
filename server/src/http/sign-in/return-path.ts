/** The path of a page of this service to return to. Anything else, which could lead to another site, becomes the start page. */
export function returnPath(text: string | undefined, publicUrl: string): string {
  const start = '/'
  if (text === undefined || text.length > 500 || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text) || text.includes('\\'))
    return start
  const url = URL.parse(text, publicUrl)
  if (url === null || url.origin !== new URL(publicUrl).origin) return start
  const path = url.pathname + url.search
  return path.startsWith('//') || /^\/(api|sign-in)(\/|$)/.test(url.pathname) ? start : path
}
