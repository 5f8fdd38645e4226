import { ExternalLink } from '../ui/external-link.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'

const openStep = /^Open (https?:\/\/\S+)(.*)$/s

/** How to set up the webhook on the forge's site. */
export function WebhookSteps({ steps }: { steps: string[] }) {
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
