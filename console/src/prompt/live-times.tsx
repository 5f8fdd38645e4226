import type { Effect } from '@promptledger/client'
import { formatNumber } from '../ui/number.ts'
import { formatPercent } from '../ui/percent.ts'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'

/** When a change was live, and how that is known. */
export function LiveTimes({ impact }: { impact: Effect }) {
  const { live_windows: windows, unattributed } = impact
  return (
    <>
      <ul className="live-times" aria-label="When it was live">
        {windows.map(({ from, until, share, live_source: source, environment }) => (
          <li key={from}>
            Live from <Time at={from} />
            {until !== null && (
              <>
                {' '}
                until <Time at={until} />
              </>
            )}
            , {source === 'merge' ? 'by its merge' : <Deployed environment={environment} share={share} />}
          </li>
        ))}
      </ul>
      {unattributed > 0 && (
        <p className="live-times">
          {formatNumber(unattributed)} of the signals after the change named no version and came while another version
          was live too.
        </p>
      )}
    </>
  )
}

export function Deployed({ environment, share }: { environment: string | null; share: number }) {
  return (
    <>
      deployed to <UntrustedText text={environment ?? 'production'} />
      {share < 1 && ` (${formatPercent(share)} of traffic)`}
    </>
  )
}
