import type { ChannelContext } from '../../src/alerts/context.ts'
import type { Target } from '../../src/domain/alerts/channel.ts'

export const publicUrl = 'https://ledger.example.com'

/** Sends to this machine, at a fixed time. Keeps what is logged. */
export function channelContext(overrides: Partial<ChannelContext> = {}) {
  const logged: object[] = []
  return {
    network: { allowPrivate: true, allowHttp: true },
    mail: null,
    publicUrl: () => publicUrl,
    clock: Date.now,
    log: {
      warn: (details: object, message: string) => {
        logged.push({ ...details, message })
      },
    },
    logged,
    ...overrides,
  }
}

export function targetOf(channel: Target['channel'], target: string, secrets: string[] = []): Target {
  return { alertId: 'alr_7Kq2mPa9Qw4Rt6Yu8Io1Zx3C', channel, name: 'On call', target, secrets }
}
