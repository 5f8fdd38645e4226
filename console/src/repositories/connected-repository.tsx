import type { ConnectedRepository } from '@promptledger/client'
import { CircleAlert, CircleCheck } from 'lucide-react'
import { CopyField } from '../ui/copy-field.tsx'
import { ExternalLink } from '../ui/external-link.tsx'
import { ResultDialog } from '../ui/result-dialog.tsx'
import { SecretDialog } from '../ui/secret-dialog.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { LocalFolderNotice, Warnings, WebhookNotice } from './repository-notices.tsx'
import { useRepository } from './repository-query.ts'
import { RepositoryContents } from './repository-status.tsx'
import { isLocalFolder } from './webhook-reach.ts'

interface Props {
  connected: ConnectedRepository
  onClose: () => void
}

const title = 'Repository connected'

/** Follows the connect form: shows the backfill, how to set up the webhook, and its secret, once. */
export function ConnectedRepositoryDialog({ connected, onClose }: Props) {
  const lead = <BackfillProgress connected={connected} />
  if (isLocalFolder(connected.url)) {
    return (
      <ResultDialog title={title} lead={lead} onClose={onClose}>
        <Warnings warnings={connected.warnings} />
        <LocalFolderNotice />
      </ResultDialog>
    )
  }
  return (
    <SecretDialog
      title={title}
      label="Webhook secret"
      secret={connected.webhook_secret}
      recovery="rotate it to get a new one"
      onClose={onClose}
      lead={
        <>
          {lead}
          <Warnings warnings={connected.warnings} />
          <p>Add a webhook for instant updates. Until then we check hourly.</p>
          <WebhookNotice repository={connected} />
        </>
      }
    >
      <CopyField label="Webhook URL" value={connected.webhook_url} />
      {connected.ssh_public_key !== null && (
        <>
          <p>Add this deploy key to the repository on the forge, with read access only.</p>
          <CopyField label="Deploy key" value={connected.ssh_public_key} />
        </>
      )}
      <h3>Set up the webhook</h3>
      <WebhookSteps steps={connected.set_up} />
    </SecretDialog>
  )
}

const openStep = /^Open (https?:\/\/\S+)(.*)$/s

/** How to set up the webhook on the forge's site. */
function WebhookSteps({ steps }: { steps: string[] }) {
  return (
    <ol className="steps">
      {steps.map((step) => (
        <li key={step}>
          <Step text={step} />
        </li>
      ))}
    </ol>
  )
}

/** Only the page to open becomes a link. Other URLs in a step are values to copy. */
function Step({ text }: { text: string }) {
  const [, page, rest] = openStep.exec(text) ?? []
  if (page === undefined) return <UntrustedText text={text} />
  return (
    <>
      Open{' '}
      <ExternalLink to={page}>
        <UntrustedText text={page} />
      </ExternalLink>
      {rest}
    </>
  )
}

/** How far the backfill of a newly connected repository has come. */
function BackfillProgress({ connected }: { connected: ConnectedRepository }) {
  const repository = useRepository(connected.id)
  const { state, last_error: error } = repository.data ?? connected
  const contents = repository.data ?? { prompt_count: connected.prompts.length, entry_count: connected.entries }
  if (state === 'failing') {
    return (
      <div className="progress bad" role="alert">
        <CircleAlert aria-hidden="true" />
        <div>
          <strong>The history could not be read. The service retries automatically.</strong>
          <span>
            <UntrustedText text={error ?? ''} />
          </span>
        </div>
      </div>
    )
  }
  const isDone = state === 'following'
  if (isDone && contents.prompt_count === 0) {
    return (
      <div className="progress bad" role="alert">
        <CircleAlert aria-hidden="true" />
        <div>
          <strong>No prompts found</strong>
          <span>
            No file matches <UntrustedText text={connected.path} />. Check the folders, and upper and lower case. To
            change the path, disconnect the repository and connect it again.
          </span>
        </div>
      </div>
    )
  }
  return (
    <div className={`progress ${isDone ? 'good' : ''}`} role="status">
      {isDone ? <CircleCheck aria-hidden="true" /> : <span className="loading-bar" aria-hidden="true" />}
      <div>
        <strong>{isDone ? 'History imported' : 'Reading the history…'}</strong>
        <RepositoryContents {...contents} />
      </div>
    </div>
  )
}
