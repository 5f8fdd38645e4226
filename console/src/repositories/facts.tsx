import type { Repository } from '@promptledger/client'
import type { ReactNode } from 'react'
import { Copy } from '../ui/copy.tsx'
import { Notice } from '../ui/notice.tsx'
import { OutsideLink } from '../ui/outside-link.tsx'
import { Time } from '../ui/time.tsx'
import { forgeNames } from './forges.ts'
import { Size } from './size.tsx'

/** What is known of a repository. */
export function Facts({ repository }: { repository: Repository }) {
  const { forge, url, path, state, default_branch: branch, incomplete, last_error: error } = repository
  return (
    <section className="card repository-facts" aria-label="Facts">
      {state === 'failing' && (
        <Notice tone="bad">
          <strong>The last sync failed. It is tried again by itself.</strong>
          <pre>{error}</pre>
        </Notice>
      )}
      {state === 'disconnected' && (
        <Notice>
          It is no longer followed; its prompts and their history stay. Connect the same address with the same files,
          and it goes on where it stopped.
        </Notice>
      )}
      {incomplete && (
        <Notice tone="caution">
          The repository was given to us without its oldest commits: what they changed is missing.
        </Notice>
      )}
      <dl className="facts">
        <Fact name="Address">
          <OutsideLink to={url}>{url}</OutsideLink>
        </Fact>
        <Fact name="Forge">{forgeNames[forge]}</Fact>
        <Fact name="Files">
          <code>{path}</code>
        </Fact>
        <Fact name="Default branch">
          {branch === null ? <span className="quiet">No commit yet</span> : <code>{branch}</code>}
        </Fact>
        <Fact name="Found">
          <Size repository={repository} />
        </Fact>
        <Fact name="Last sync">
          <TimeOrNone at={repository.last_sync_at} />
        </Fact>
        <Fact name="Last delivery">
          <TimeOrNone at={repository.last_delivery_at} />
        </Fact>
        <Fact name="Connected">
          <TimeOrNone at={repository.created_at} />
        </Fact>
      </dl>
      {state !== 'disconnected' && <Copy label="Webhook address" text={repository.webhook_url} />}
    </section>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function TimeOrNone({ at }: { at: string | null }) {
  return at === null ? <span className="quiet">None yet</span> : <Time at={at} />
}
