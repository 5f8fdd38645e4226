import type { TestedAlert } from '@promptledger/client'
import { CircleCheck } from 'lucide-react'
import { Notice } from '../ui/notice.tsx'
import { formatNumber } from '../ui/number.ts'
import { UntrustedText } from '../ui/untrusted-text.tsx'

/** What the receiver of a test message answered. */
export function TestResult({ result }: { result: TestedAlert }) {
  const { sent, status, response, error, milliseconds } = result
  const answer = status === null ? 'No response' : `Response ${status}`
  const text = (
    <>
      <strong>{sent ? 'The test was sent.' : 'The test was not sent.'}</strong> {answer} after{' '}
      {formatNumber(milliseconds)} ms.
      {error !== null && (
        <>
          {' '}
          <UntrustedText text={error} />
        </>
      )}
      {response && (
        <code className="test-response">
          <UntrustedText text={response} />
        </code>
      )}
    </>
  )
  if (!sent) return <Notice tone="bad">{text}</Notice>
  return (
    <div className="notice good">
      <CircleCheck aria-hidden="true" />
      <div>{text}</div>
    </div>
  )
}
