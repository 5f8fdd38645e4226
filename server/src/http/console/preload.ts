const session = '/api/v1/session'
// As the console requests it: the browser compares whole URLs. A test compares both.
const home = [session, '/api/v1/prompts?page=1&q=&sort=regression']

/**
 * What the browser should request while it still loads the scripts, as a Link header. Every page asks for the session first.
 * Without one, lists would only get 401.
 */
export function preloadHeader(url: string, hasSession: boolean): string {
  const isHome = url === '/' || url === '/prompts'
  const paths = isHome && hasSession ? home : [session]
  return paths.map((path) => `<${path}>; rel=preload; as=fetch; crossorigin`).join(', ')
}
