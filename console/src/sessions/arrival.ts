const { pathname, search, hash } = window.location
const isSignIn = pathname === '/sign-in'
const token = isSignIn ? hash.slice(1) : ''

/** With what someone opened the sign-in page. Read once: it is not part of any later page. */
export const arrival = {
  /** Of a link that was sent by email. */
  link: token.startsWith('pll_') ? token : null,
  invitation: token.startsWith('pli_') ? token : null,
  /** Why signing in through the provider failed. */
  failure: isSignIn ? new URLSearchParams(search).get('failed') : null,
  concernsAnyone: false,
}
arrival.concernsAnyone = arrival.link !== null || arrival.invitation !== null || arrival.failure !== null

// Neither the history nor a bookmark keeps a token.
if (token !== '') window.history.replaceState(null, '', pathname)

// A link that is opened in the tab that asked for it changes only the fragment.
if (isSignIn) {
  window.addEventListener('hashchange', () => {
    if (/^#pl[il]_/.test(window.location.hash)) window.location.reload()
  })
}
