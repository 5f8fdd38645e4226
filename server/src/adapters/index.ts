import type { AdapterName } from '../domain/sources/source.ts'
import type { Adapter } from './adapter.ts'
import { intercom } from './intercom.ts'
import { langfuse } from './langfuse.ts'
import { langsmith } from './langsmith.ts'
import { librechat } from './librechat.ts'
import { openWebui } from './open-webui.ts'
import { posthog } from './posthog.ts'
import { slack } from './slack.ts'
import { webhook } from './webhook.ts'
import { zendesk } from './zendesk.ts'

export const adapters: Readonly<Record<AdapterName, Adapter>> = {
  webhook,
  slack,
  langfuse,
  langsmith,
  posthog,
  intercom,
  zendesk,
  'open-webui': openWebui,
  librechat,
}
