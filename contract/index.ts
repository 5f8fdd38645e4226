import { operations as alerts } from './alerts.ts'
import { operations as audit } from './audit.ts'
import { operations as delivery } from './delivery.ts'
import { operations as deployments } from './deployments.ts'
import { operations as history } from './history.ts'
import { operations as impact } from './impact.ts'
import { operations as invitations } from './invitations.ts'
import { operations as keys } from './keys.ts'
import type { Operation } from './operation.ts'
import { operations as organisation } from './organisation.ts'
import { operations as people } from './people.ts'
import { operations as prompts } from './prompts.ts'
import { operations as regressions } from './regressions.ts'
import { operations as repositories } from './repositories.ts'
import { operations as segments } from './segments.ts'
import { operations as service } from './service.ts'
import { operations as sessions } from './sessions.ts'
import { operations as shares } from './shares.ts'
import { operations as shifts } from './shifts.ts'
import { operations as signIn } from './sign-in.ts'
import { operations as signals } from './signals.ts'
import { operations as sources } from './sources.ts'
import { operations as telemetry } from './telemetry.ts'
import { operations as trials } from './trials.ts'
import { operations as usage } from './usage.ts'
import { operations as versions } from './versions.ts'
import { operations as votes } from './votes.ts'

/** Every operation of the service. */
export const operations: Operation[] = [
  alerts,
  audit,
  delivery,
  deployments,
  history,
  impact,
  invitations,
  keys,
  organisation,
  people,
  prompts,
  regressions,
  repositories,
  segments,
  service,
  sessions,
  shares,
  shifts,
  signIn,
  signals,
  telemetry,
  sources,
  trials,
  usage,
  versions,
  votes,
].flatMap((group) => Object.values(group))
