import type { Repository } from '@promptledger/client'
import { CopyableId } from '../ui/copy-button.tsx'
import { CopyField } from '../ui/copy-field.tsx'
import { Detail } from '../ui/detail.tsx'
import { ExternalLink } from '../ui/external-link.tsx'
import { Notice } from '../ui/notice.tsx'
import { Time, TimeOr } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { forgeLabels } from './forges.ts'
import { isRejecting, LocalFolderNotice, RejectedNotice, WebhookNotice } from './repository-notices.tsx'
import { RepositoryContents } from './repository-status.tsx'
import { isLocalFolder } from './webhook-reach.ts'

export function RepositoryDetails({ repository }: { repository: Repository }) {
  const { forge, url, path, state, stale, default_branch: branch, incomplete, last_error: error } = repository
  const { unread_pulls_below: unreadBelow } = repository
  return (
    <section className="card repository-details" aria-label="Details">
      {state === 'failing' && (
        <Notice tone="bad">
          <strong>The last sync failed. The service retries automatically.</strong>
          <pre>
            <UntrustedText text={error ?? ''} />
          </pre>
        </Notice>
      )}
      {stale && (
        <Notice tone="caution">The history is out of date: no sync has succeeded for more than two hours.</Notice>
      )}
      {repository.report_error !== null && (
        <Notice tone="caution">
          <strong>Reports on pull requests fail.</strong> <UntrustedText text={repository.report_error} />
        </Notice>
      )}
      {repository.delivery_error !== null && (
        <Notice tone="caution">
          <strong>Some live texts are not delivered.</strong> {repository.delivery_error}
        </Notice>
      )}
      {isRejecting(repository) && <RejectedNotice {...repository} />}
      {state === 'disconnected' && (
        <Notice>
          This repository is no longer synced. Its prompts and their history stay. To resume where it stopped, connect
          the same URL with the same prompt files again.
        </Notice>
      )}
      {unreadBelow !== null && (
        <Notice>
          Still searching for rebased pull requests below number {unreadBelow}. Until then, their changes appear as
          direct commits.
        </Notice>
      )}
      {incomplete && (
        <Notice tone="caution">
          The forge sent this repository without its oldest commits. Changes made in them are missing from the history.
        </Notice>
      )}
      <dl className="details-list">
        <Detail name="Repository URL">
          <ExternalLink to={url}>
            <UntrustedText text={url} />
          </ExternalLink>
        </Detail>
        <Detail name="Forge">{forgeLabels[forge]}</Detail>
        <Detail name="Prompt files">
          <code>
            <UntrustedText text={path} />
          </code>
        </Detail>
        <Detail name="Default branch">
          {branch === null ? (
            <span className="muted">No commits yet</span>
          ) : (
            <code>
              <UntrustedText text={branch} />
            </code>
          )}
        </Detail>
        <Detail name="Production">
          <ProductionEnvironments patterns={repository.production_environments} />
        </Detail>
        <Detail name="Reports on pull requests">{repository.reports_on_pulls ? 'On' : 'Off'}</Detail>
        <Detail name="Briefs reviewers">{repository.briefs_pulls ? 'On' : 'Off'}</Detail>
        <Detail name="Proposes reverts">{repository.proposes_reverts ? 'On' : 'Off'}</Detail>
        <Detail name="Opens issues">{repository.opens_issues ? 'On' : 'Off'}</Detail>
        <Detail name="Contents">
          <RepositoryContents {...repository} />
        </Detail>
        <Detail name="Last sync">
          <TimeOr at={repository.last_sync_at} none="None yet" />
        </Detail>
        <Detail name="Last delivery">
          <TimeOr at={repository.last_delivery_at} none="None yet" />
        </Detail>
        {repository.last_rejected_at !== null && (
          <Detail name="Rejected deliveries">
            {repository.rejected_deliveries}, last <Time at={repository.last_rejected_at} />
          </Detail>
        )}
        <Detail name="Connected on">
          <Time at={repository.created_at} />
        </Detail>
        <Detail name="ID">
          <CopyableId id={repository.id} what="repository ID" />
        </Detail>
      </dl>
      {state !== 'disconnected' && repository.ssh_public_key !== null && (
        <CopyField label="Deploy key" value={repository.ssh_public_key} />
      )}
      {state !== 'disconnected' && <Webhook repository={repository} />}
    </section>
  )
}

function Webhook({ repository }: { repository: Repository }) {
  if (isLocalFolder(repository.url)) {
    return (
      <>
        <LocalFolderNotice />
        <details className="form-advanced">
          <summary>If it is a copy of a repository on a forge</summary>
          <p>Add a webhook there to record its pull requests. “Rotate secret” shows a secret for it.</p>
          <CopyField label="Webhook URL" value={repository.webhook_url} />
        </details>
      </>
    )
  }
  return (
    <>
      {/* A delivery that arrived proves that the forge can. */}
      {repository.last_delivery_at === null && <WebhookNotice repository={repository} />}
      <CopyField label="Webhook URL" value={repository.webhook_url} />
    </>
  )
}

/** The environments whose deployments decide what is live. */
function ProductionEnvironments({ patterns }: { patterns: string[] | null }) {
  if (patterns === null) return <span className="muted">production, prod, live, or as the forge says</span>
  if (patterns.length === 0) return <span className="muted">None: merges decide what is live</span>
  return (
    <code>
      <UntrustedText text={patterns.join(', ')} />
    </code>
  )
}
