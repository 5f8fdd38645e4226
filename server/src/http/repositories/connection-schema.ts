import type { FromSchema } from 'json-schema-to-ts'
import { defaultSimilarity, forgeNames } from '../../domain/repositories/repository.ts'

const textOrNull = { type: ['string', 'null'] } as const

const urlDescription = 'https://…, ssh://… or git@host:path. Plain http:// needs `ALLOW_HTTP_REPOSITORIES=1`'

const productionEnvironments = {
  type: ['array', 'null'],
  items: { type: 'string' },
  description:
    'Globs of the environments whose deployments decide what is live, such as `production` or `prod-*`. Null for the default: ' +
    'what the forge calls production, and environments named production, prod or live. With an empty list, merges decide',
} as const

const reportsOnPulls = {
  type: 'boolean',
  description:
    'Tell regressions on the pull request that caused them, by one comment, and on the merged commit, by a status. The token needs ' +
    'to write both',
} as const

export const newRepositorySchema = {
  title: 'NewRepository',
  description: 'A repository to connect',
  type: 'object',
  required: ['forge', 'url', 'path'],
  properties: {
    forge: { enum: forgeNames },
    url: { type: 'string', description: urlDescription },
    path: { type: 'string', description: 'A glob that selects the prompt files, such as prompts/**/*.md' },
    token: { ...textOrNull, description: 'An access token, if the repository is not public' },
    ssh_key: {
      ...textOrNull,
      description:
        "A private key in OpenSSH's format without a passphrase, for a repository that is fetched over ssh. Never returned",
    },
    generate_ssh_key: {
      type: 'boolean',
      default: false,
      description: 'Generate a key pair for ssh. Add `ssh_public_key` to the repository on the forge',
    },
    ssh_host_key: {
      ...textOrNull,
      description:
        'The key of the ssh server, such as `ssh-ed25519 AAAAC3…`. By default, the one that it has when you connect. Needs ' +
        '`ssh_key` or `generate_ssh_key`',
    },
    similarity: {
      type: 'integer',
      minimum: 1,
      maximum: 100,
      default: defaultSimilarity,
      description:
        'The minimum similarity, in percent, for a file that was moved and edited to keep its prompt. At 100, only files ' +
        'that are moved without edits do',
    },
    production_environments: productionEnvironments,
    reports_on_pulls: { ...reportsOnPulls, default: false },
  },
  examples: [{ forge: 'github', url: 'https://github.com/acme/prompts.git', path: 'prompts/**/*.md' }],
} as const

export const repositoryUpdateSchema = {
  title: 'RepositoryUpdate',
  description: 'What to change about a repository',
  type: 'object',
  minProperties: 1,
  properties: {
    url: { type: 'string', description: `The new URL of the same repository: ${urlDescription}` },
    token: {
      ...textOrNull,
      description: 'A new access token. Null removes it. Required if the new URL is on another server than the old one',
    },
    ssh_key: {
      type: 'string',
      description: "A new private key in OpenSSH's format without a passphrase. Never returned",
    },
    ssh_host_key: {
      type: 'string',
      description:
        'The new key of the ssh server, such as `ssh-ed25519 AAAAC3…`. By default, the recorded one, or that of the new server',
    },
    production_environments: productionEnvironments,
    reports_on_pulls: reportsOnPulls,
  },
  examples: [{ url: 'https://github.com/acme/assistant-prompts.git' }],
} as const

export type NewRepositoryBody = FromSchema<typeof newRepositorySchema>
export type RepositoryUpdateBody = FromSchema<typeof repositoryUpdateSchema>
