import { type Command, InvalidArgumentError, Option } from 'commander'
import { operator } from '../domain/access/audit.ts'
import { type DeploymentTarget, type NewDeployment, newDeployment } from '../domain/deployments/deployment.ts'
import { type DeploymentState, deploymentStates } from '../domain/deployments/state.ts'
import { checkConnected } from '../domain/repositories/repository.ts'
import type { Store } from '../domain/store.ts'
import { parseTime } from '../domain/time.ts'
import { toDeploymentBody } from '../http/deployments/body.ts'
import { integerArgument, namingOptions, type OptionNames } from './arguments.ts'
import { promptOrFail, repositoryOrFail } from './lookup.ts'
import { print, table } from './output.ts'
import { withStore } from './with-store.ts'

interface TargetOptions {
  repo?: number
  prompt?: string
}

interface RecordOptions extends TargetOptions {
  environment: string
  commit: string
  state: DeploymentState
  share: number
  at?: string
  model?: string | null
}

const maxListed = 100

export function deploymentCommands(program: Command): void {
  const deployment = program.command('deployment').description('report and list deployments, which decide what is live')

  withTarget(deployment.command('record'))
    .description('report a deployment of a repository or of one prompt; does nothing if the same one is known')
    .requiredOption('--environment <name>', 'where it was deployed to, such as production')
    .requiredOption('--commit <sha>', 'full hash of the deployed commit')
    .addOption(new Option('--state <state>', 'what became of it').choices(deploymentStates).default('success'))
    .addOption(
      new Option('--share <share>', 'part of the traffic, less than 1 for a canary')
        .argParser(shareArgument)
        .default(1),
    )
    .option('--model <name>', 'model that it serves')
    .option('--at <time>', 'when it happened, ISO 8601 (default: now)')
    .action((options: RecordOptions, command: Command) =>
      withStore(async (store) => {
        const target = await targetOf(store, options, command)
        const now = Date.now()
        const reported = deploymentFrom(options, now)
        const { deployment, isNew } = await store.deployments.record(target, reported, now, operator)
        // The service finds the commit in its next sync.
        if (target.repository !== null && deployment.commitState === 'pending') {
          await store.repositories.wake(target.repository, now)
        }
        const what = isNew ? 'Recorded' : 'Already known:'
        const text = `${what} deployment ${deployment.id} of ${deployment.commitSha} to ${deployment.environment}.`
        print(command, toDeploymentBody(deployment), text)
      }),
    )

  withTarget(deployment.command('list'))
    .description(`list the newest ${maxListed} deployments of a repository, or of a prompt and its repository`)
    .action((options: TargetOptions, command: Command) =>
      withStore(async (store) => {
        const target = await targetOf(store, options, command)
        const { deployments } = await store.deployments.page(target, { page: '1', limit: maxListed })
        const bodies = deployments.map(toDeploymentBody)
        const rows = bodies.map(
          ({ id, at, environment, production, commit_sha, commit_state, state, share, model }) => ({
            id,
            at,
            environment: production ? `${environment} (production)` : environment,
            commit: commit_sha.slice(0, 12),
            commit_state,
            state,
            share,
            model: model ?? '',
          }),
        )
        print(command, bodies, table(rows, "No deployments yet. Report one with 'promptledger deployment record'."))
      }),
    )
}

function withTarget(command: Command): Command {
  return command
    .addOption(new Option('--repo <id>', 'repository: all its prompts').argParser(integerArgument).conflicts('prompt'))
    .option('--prompt <prompt>', 'public ID, name or path of one prompt')
}

async function targetOf(store: Store, { repo, prompt }: TargetOptions, command: Command): Promise<DeploymentTarget> {
  if (repo !== undefined) {
    const repository = await repositoryOrFail(store, repo)
    checkConnected(repository)
    return { repository }
  }
  if (prompt === undefined) command.error("error: pass '--repo <id>' or '--prompt <prompt>'")
  const found = await promptOrFail(store, prompt as string)
  const { repositoryId } = found
  return { prompt: found, repository: repositoryId === null ? null : await store.repositories.find(repositoryId) }
}

function shareArgument(text: string): number {
  const share = Number(text)
  if (text.trim() === '' || Number.isNaN(share)) throw new InvalidArgumentError('Must be a number, such as 0.1.')
  return share
}

const optionOf: OptionNames = {
  environment: '--environment',
  commitSha: '--commit',
  share: '--share',
  at: '--at',
  model: '--model',
}

function deploymentFrom(
  { environment, commit, state, share, at, model = null }: RecordOptions,
  now: number,
): NewDeployment {
  const time = at === undefined ? null : parseTime('--at', at)
  try {
    return newDeployment({ environment, commitSha: commit, state, share, at: time, model }, now)
  } catch (error) {
    return namingOptions(optionOf)(error as Error)
  }
}
