import { GitError } from './run.ts'

// What git prints if the server ends without a response to the request.
const noResponse = /expected '(packfile|acknowledgments|shallow-info)'/

/**
 * Fetches commits without their files, where the server supports that. Gitea 1.16 announces that it does, and fails when it is asked
 * to: then the files are fetched too.
 */
export async function withoutFiles(fetch: (filter: string[]) => Promise<unknown>): Promise<void> {
  try {
    await fetch(['--filter=tree:0'])
  } catch (error) {
    if (!(error instanceof GitError) || !noResponse.test(error.gitOutput)) throw error
    // git has noted the filter as that of the remote.
    await fetch(['--no-filter'])
  }
}
