import pino from 'pino'
import { createSendMessage } from '../server/src/alerts/send.ts'
import { sendCloudEvents } from '../server/src/alerts/webhook.ts'
import type { Attempt, SendEvents } from '../server/src/domain/alerts/channel.ts'
import type { RegressionMessage } from '../server/src/domain/alerts/message.ts'
import type { PullMessage } from '../server/src/domain/alerts/pull-comment.ts'
import { createNotifier } from '../server/src/service/notifier.ts'
import { createSender, type Sender } from '../server/src/service/sender.ts'
import { createSignalSender } from '../server/src/service/signal-sender.ts'
import type { TestService } from './service.ts'

export interface TestNotifier {
  notifier: ReturnType<typeof createNotifier>
  sender: Sender
  signalSender: ReturnType<typeof createSignalSender>
  /** What was reported on pull requests. */
  reported: RegressionMessage[]
  logged: string[]
  /** Decides, and sends all deliveries that are due. */
  tell(): Promise<void>
  /** Sends all signals that wait, as a second later. */
  sendSignals(): Promise<void>
}

/** The notifier and the sender of a process, which run when the test says so. Receivers may be on this machine. */
export function openNotifier(service: TestService): TestNotifier {
  const logged: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => logged.push(line) })
  const reported: RegressionMessage[] = []
  const clock = () => service.now
  const network = { allowPrivate: true, allowHttp: true }
  const publicUrl = () => 'https://ledger.example'
  const channels = { network, mail: null, publicUrl, clock, log }
  const context = {
    store: service.store,
    vault: service.syncContext.vault,
    send: createSendMessage(channels),
    sendEvents: ((...request) => sendCloudEvents(channels, ...request)) as SendEvents,
    publicUrl,
    reportOnPull: async (message: PullMessage): Promise<Attempt> => {
      if ('dedupKey' in message) reported.push(message)
      return { outcome: 'sent', status: 201, response: null, error: null }
    },
    planLimits: service.planLimits,
    clock,
    log,
  }
  const [notifier, sender, signalSender] = [createNotifier(context), createSender(context), createSignalSender(context)]
  return {
    notifier,
    sender,
    signalSender,
    reported,
    logged,
    async tell() {
      await notifier.round()
      for (;;) {
        await sender.round()
        if (sender.stats().inFlight === 0) return
        await sender.idle()
      }
    },
    async sendSignals() {
      service.now += 1_000
      for (;;) {
        await signalSender.round()
        if (signalSender.inFlight() === 0) return
        await signalSender.idle()
      }
    },
  }
}
