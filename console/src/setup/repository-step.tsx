import { Link } from 'wouter'

/** For admins only: others cannot see whether a repository is connected. */
export function RepositoryStep({ isConnected }: { isConnected: boolean }) {
  if (isConnected) return null
  return (
    <>
      <p>
        Each prompt file becomes a prompt, and its commits and pull requests become its history, so that every change of
        the text is compared with the signals before and after it.
      </p>
      <Link className="button primary" href="/repositories?connect">
        Connect a repository
      </Link>
    </>
  )
}
