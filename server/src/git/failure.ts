// Tenants see why git failed. git's own text is not shown to them: it quotes the server, and an address of the operator's
// network must not answer through it.
interface Failure {
  /** What git, ssh or curl print. */
  output: RegExp
  reason: string
  /** What to do about a repository that is connected already. */
  advice?: string
}

const failures = {
  hostKeyChanged: {
    // With a deploy key, only the recorded key is known, under the alias `repository`.
    output: /remote host identification has changed|host key is known for repository and you/i,
    reason: 'the ssh host key of the server differs from the recorded one',
    advice: "If the server has a new key, record it with 'repo update' and --ssh-host-key, or with Edit in the console",
  },
  hostKeyUnknown: {
    output: /host key verification failed|no \w+ host key is known/i,
    reason:
      "the ssh host key of the server is unknown. Use a deploy key, or add the host to known_hosts of the service's user",
  },
  permission: {
    output: /Permission denied \(/i,
    reason: 'the server rejected the ssh key. Add its public half to the repository on the forge, with read access',
  },
  redirect: {
    output: /returned error: 30\d|redirection:/i,
    reason: 'the repository moved. Use its new URL',
    advice: "Set it with 'repo update --url', or with Edit in the console",
  },
  rejectedPush: {
    output: /\[remote rejected\]|\[rejected\]/i,
    reason: 'the server rejected the branch: a rule of the repository protects it',
  },
  missingRef: { output: /couldn't find remote ref/i, reason: 'the server does not have this branch or commit' },
  damagedMirror: {
    output:
      /corrupt|bad object|not a git repository|missing (blob|tree|commit)|unable to read|is empty|invalid object/i,
    reason: 'the local copy is damaged, or the server sent invalid objects. A later sync creates it again',
  },
  certificate: {
    output: /certificate|\b(SSL|TLS|GnuTLS)\b/i,
    reason: 'no secure connection to the server could be made. Check its certificate',
  },
  unknownHost: {
    output: /could not resolve host(name)?/i,
    reason: 'the name of the server cannot be resolved. Check the host in the URL',
  },
  refused: {
    output: /connection refused/i,
    reason: 'the server refused the connection. Check the host and the port in the URL',
  },
  unreachable: {
    output: /(connection|operation) timed out|unreachable|no route to host/i,
    reason: 'the server cannot be reached. Check the host, the port and firewalls',
  },
  connection: {
    output:
      /failed to connect|couldn't connect|connection (reset|closed)|operation too slow|hung up|early EOF|empty reply|returned error: (429|5\d\d)/i,
    reason: 'the server cannot be reached or responds with an error',
  },
  access: {
    output:
      /could not read Username|Authentication failed|terminal prompts disabled|Permission denied|returned error: 40[134]|not found|does not appear to be a git repository|Could not read from remote repository/i,
    reason: 'the repository does not exist, or the server requires a token or deploy key with read access',
    advice: "Check its URL and its token ('repo update')",
  },
  other: { output: /^/, reason: "failed. The service's log has the details" },
} as const satisfies Record<string, Failure>

export type GitFailure = keyof typeof failures

// The most telling first: ssh adds "Could not read from remote repository" to every other error.
const order = Object.keys(failures) as GitFailure[]

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

export function adviceOf(failure: GitFailure): string | null {
  const { advice }: Failure = failures[failure]
  return advice ?? null
}

const networkFailures: GitFailure[] = ['unknownHost', 'refused', 'unreachable']

/** Whether the failure tells a closed port from a filtered one, or which names exist. */
export function tellsNetwork(failure: GitFailure): boolean {
  return networkFailures.includes(failure)
}
