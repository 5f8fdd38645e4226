// Tenants see why git failed. git's own text is not shown to them: it quotes the server, and an address of the operator's
// network must not answer through it. Reasons do not tell a closed port from a filtered one either.
const failures = {
  access: {
    output:
      /could not read Username|Authentication failed|terminal prompts disabled|Permission denied|returned error: 40[134]|not found|does not appear to be a git repository|Could not read from remote repository/i,
    reason: 'the repository does not exist, or the server requires a token or deploy key with read access',
  },
  hostKey: {
    output: /host key verification failed|remote host identification has changed/i,
    reason:
      'the ssh host key of the server is unknown, or differs from the one recorded when the repository was connected',
  },
  redirect: {
    output: /redirect|returned error: 30\d/i,
    reason: 'the repository has moved. Use its new URL (redirects are only followed with ALLOW_REPOSITORY_REDIRECTS=1)',
  },
  certificate: {
    output: /certificate|\b(SSL|TLS|GnuTLS)\b/i,
    reason: 'no secure connection to the server could be made. Check its certificate',
  },
  connection: {
    output:
      /could not resolve host|failed to connect|couldn't connect|connection (refused|timed out|reset|closed)|unreachable|no route to host|operation too slow|hung up|early EOF|empty reply|returned error: (429|5\d\d)/i,
    reason: 'the server cannot be reached or responds with an error',
  },
  missingRef: { output: /couldn't find remote ref/i, reason: 'the server does not have this branch or commit' },
  damagedMirror: {
    output:
      /corrupt|bad object|not a git repository|missing (blob|tree|commit)|unable to read|is empty|invalid object/i,
    reason: 'the local copy is damaged, or the server sent invalid objects. The next sync creates it again',
  },
  other: { output: /^/, reason: "failed. The service's log has the details" },
} as const

export type GitFailure = keyof typeof failures

// The most telling first: ssh adds "Could not read from remote repository" to every other error.
const order: GitFailure[] = [
  'hostKey',
  'redirect',
  'missingRef',
  'damagedMirror',
  'certificate',
  'connection',
  'access',
]

/** Classifies what git printed. Lines from the server are left out, so that it cannot choose the class. */
export function failureOf(stderr: string): GitFailure {
  const own = stderr
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('remote:'))
    .join('\n')
  return order.find((failure) => failures[failure].output.test(own)) ?? 'other'
}

export function reasonOf(failure: GitFailure): string {
  return failures[failure].reason
}
