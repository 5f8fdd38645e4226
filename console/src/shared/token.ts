const { pathname, hash } = window.location

/** Whether the page was opened by a share link. It shows one prompt, and links to no other page. */
export const isShared = pathname === '/shared'

/** The token of the link. It is in the fragment, which browsers send to no server. */
export const shareToken = isShared ? hash.slice(1) : ''

// Another link in the same tab changes only the fragment.
if (isShared) {
  window.addEventListener('hashchange', () => {
    if (window.location.hash !== hash) window.location.reload()
  })
}
