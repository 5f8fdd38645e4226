import type { Forge } from '@promptledger/client'

export const forgeLabels: Record<Forge, string> = {
  github: 'GitHub',
  gitlab: 'GitLab',
  gitea: 'Gitea',
  forgejo: 'Forgejo',
  bitbucket: 'Bitbucket Cloud',
}

export const forges = Object.keys(forgeLabels) as Forge[]
