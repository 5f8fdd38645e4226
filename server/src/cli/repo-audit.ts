import type { Command } from 'commander'
import type { Repository } from '../domain/repositories/repository.ts'
import { isoTime } from '../domain/time.ts'
import type { AuditedEntry, LinePlace, PullEvidence } from '../follow/audit.ts'
import { integerArgument } from './arguments.ts'
import { repositoryOrFail } from './lookup.ts'
import { formatCount, formatNumber, print, visibleLine } from './output.ts'
import { openLocalContext } from './repository-service.ts'
import { withStore } from './with-store.ts'

interface AuditCommandOptions {
  sample: number
  seed: number
}

/** A statement, and the git commands that show whether it is true. */
interface Evidence {
  text: string
  commands: string[]
}

const maxSample = 1_000

export function repoAuditCommand(repo: Command): void {
  repo
    .command('audit')
    .description('show the evidence for a sample of entries: why the commit counts, and what proves the pull request')
    .argument('<repo-id>', 'repository', integerArgument)
    .option('--sample <count>', `how many entries, at most ${formatNumber(maxSample)}`, integerArgument, 20)
    .option('--seed <number>', 'another number selects other entries', integerArgument, 1)
    .action((id: number, { sample, seed }: AuditCommandOptions, command: Command) =>
      withStore(async (store, config) => {
        if (sample > maxSample) throw new Error(`--sample must be at most ${formatNumber(maxSample)}`)
        const repository = await repositoryOrFail(store, id)
        const { auditRepository } = await import('../follow/audit.ts')
        const audited = await auditRepository(await openLocalContext(config, store), repository, { sample, seed })
        const json = audited.map((each) => toJson(each, repository))
        print(command, json, describeAudit(json, id))
      }),
    )
}

function toJson({ entry, place, pull }: AuditedEntry, repository: Repository) {
  return {
    entry_id: entry.id,
    action: entry.action,
    commit_sha: entry.commitSha,
    /** The first line of the commit's message. */
    subject: place?.commit.message.split('\n', 1)[0] ?? null,
    path: entry.path,
    pr_number: entry.prNumber,
    created_at: isoTime(entry.createdAt),
    line: lineEvidence(entry.commitSha, place, repository),
    pull_request: { proof: pull.proof, ...pullEvidence(entry.commitSha, place, pull, repository) },
    /** Whether the evidence of today supports the entry. */
    agrees: place !== null && entry.prNumber === (pull.proof === 'none' ? null : pull.number),
  }
}

type AuditJson = ReturnType<typeof toJson>

function lineEvidence(sha: string, place: LinePlace | null, { defaultBranch, tip }: Repository): Evidence {
  const start = place?.crossing?.parent ?? tip
  const search = `git rev-list --first-parent ${start} | grep ${sha}`
  if (place === null) return { text: `The commit is not on ${defaultBranch}.`, commands: [search] }
  const { newer, crossing, swappedParent } = place
  const where =
    crossing === null
      ? `${defaultBranch} went through it: it is ${newer === 0 ? 'its newest commit' : `one of the first parents, with ${formatCount(newer, 'newer commit')}`}.`
      : `${defaultBranch} leaves the first parents at ${short(crossing.merge)} ("${crossing.subject}"), which merged it ` +
        `into other work, and continues at ${short(crossing.parent)}. This commit is one of the first parents from there.`
  if (swappedParent === null) return { text: where, commands: [search] }
  return {
    text: `${where} It merged ${defaultBranch} into other work itself, so its changes are those since ${short(swappedParent)}.`,
    commands: [search, `git diff --stat ${swappedParent} ${sha}`],
  }
}

function pullEvidence(sha: string, place: LinePlace | null, pull: PullEvidence, { id, url }: Repository): Evidence {
  const show = `git show --no-patch --format=fuller ${sha}`
  switch (pull.proof) {
    case 'reported':
      return {
        text: `The forge reported that pull request ${pull.number} was merged, at ${isoTime(pull.at)}.`,
        commands: [`promptledger repo deliveries ${id}`],
      }
    case 'none': {
      const heads = [...(pull.heads.length > 0 ? [sha] : []), ...pull.merged]
      return {
        text: withoutPull(pull),
        commands: [show, ...heads.map((commit) => `git ls-remote ${url} | grep ${commit}`)],
      }
    }
    case 'message':
      return {
        text: `The message names pull request ${pull.number} of this repository, in the forge's own words or by its URL.`,
        commands: [show],
      }
    default:
      return headEvidence(sha, place, pull, url)
  }
}

function withoutPull({ mentioned, heads }: Extract<PullEvidence, { proof: 'none' }>): string {
  const [head] = heads
  if (head !== undefined) {
    return `No pull request: the commit is the head of ${head}, but so is that of one that leads from here to another branch.`
  }
  return mentioned === null
    ? 'No pull request: no head of one is merged here, the message names none, and none has the same commits.'
    : `No pull request: the message names ${mentioned}, but nothing proves that it landed here.`
}

function headEvidence(
  sha: string,
  place: LinePlace | null,
  pull: Extract<PullEvidence, { landed: string[] }>,
  url: string,
): Evidence {
  const { number, head, ref, landed } = pull
  const fetch = `git fetch ${url} ${ref}`
  const list = `git ls-remote ${url} ${ref}`
  const show = 'git show --no-patch --format=fuller'
  const [parent, ...merged] = place?.commit.parents ?? []
  if (pull.proof === 'head' && head !== null && parent !== undefined && !merged.includes(head)) {
    return {
      text:
        `The message names pull request ${number}, and the merged commits have its head, ${short(head)}, or a copy of it with the ` +
        'same author, date and title.',
      commands: [fetch, `${show} FETCH_HEAD`, `git log --format=fuller ${parent}..${sha}`],
    }
  }
  if (pull.proof === 'head') {
    return {
      text: `The commit merges ${short(head ?? '')}, the head of pull request ${number}: both commands print it.`,
      commands: [list, `git rev-list --no-walk ${sha}^@`],
    }
  }
  if (pull.proof === 'squash') {
    return {
      text: `The title names pull request ${number}, and its head, ${short(head ?? '')}, is not newer than the commit: compare their dates and authors.`,
      commands: [`${show} ${sha}`, fetch, `${show} FETCH_HEAD`],
    }
  }
  return {
    text: `All commits of pull request ${number} are here in a row: the same authors, dates and titles (${landed.length}).`,
    commands: [
      `git log --first-parent --max-count=${landed.length} --format='%an %ad %s' ${pull.landing}`,
      fetch,
      `git log --no-merges --max-count=${landed.length} --format='%an %ad %s' FETCH_HEAD`,
    ],
  }
}

function describeAudit(audited: AuditJson[], id: number): string {
  if (audited.length === 0) return `Repository ${id} has no entries yet.`
  const against = audited.filter(({ agrees }) => !agrees).length
  const lines = audited.flatMap(
    ({ action, commit_sha, subject, path, pr_number, created_at, line, pull_request, agrees }, i) => [
      `${i + 1}. ${visibleLine(path)}, ${action}${pr_number === null ? '' : ` (pull request ${pr_number})`}, ${created_at}`,
      `   ${commit_sha}${subject === null ? '' : ` "${visibleLine(subject)}"`}`,
      ...(agrees ? [] : ['   NOT SUPPORTED by the evidence below']),
      ...[line, pull_request].flatMap(({ text, commands }) => [
        `   ${visibleLine(text)}`,
        ...commands.map((command) => `     $ ${visibleLine(command)}`),
      ]),
      '',
    ],
  )
  const summary = against === 0 ? 'The evidence supports all of them.' : `The evidence does not support ${against}.`
  return [...lines, `${formatCount(audited.length, 'entry', 'entries')} examined. ${summary}`].join('\n')
}

function short(sha: string): string {
  return sha.slice(0, 12)
}
