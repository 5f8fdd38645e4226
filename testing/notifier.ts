import pino from 'pino'
import { createSendMessage } from '../server/src/alerts/send.ts'
import type { Attempt } from '../server/src/domain/alerts/channel.ts'
import type { RegressionMessage } from '../server/src/domain/alerts/message.ts'
import type { PullMessage } from '../server/src/domain/alerts/pull-comment.ts'
import { createNotifier, type Notifier } from '../server/src/service/notifier.ts'
import { createSender, type Sender } from '../server/src/service/sender.ts'
import type { TestService } from './service.ts'

export interface TestNotifier {
  notifier: Notifier
  sender: Sender
  /** What was reported on pull requests. */
  reported: RegressionMessage[]
  logged: string[]
  /** Decides, and sends all deliveries that are due. */
  tell(): Promise<void>
}

/** The notifier and the sender of a process, which run when the test says so. Receivers may be on this machine. */
export function openNotifier(service: TestService): TestNotifier {
  const logged: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => logged.push(line) })
  const reported: RegressionMessage[] = []
  const clock = () => service.now
  const context = {
    store: service.store,
    vault: service.syncContext.vault,
    send: createSendMessage({
      network: { allowPrivate: true, allowHttp: true },
      mail: null,
      publicUrl: () => 'https://ledger.example',
      clock,
      log,
    }),
    reportOnPull: async (message: PullMessage): Promise<Attempt> => {
      if ('dedupKey' in message) reported.push(message)
      return { outcome: 'sent', status: 201, response: null, error: null }
    },
    planLimits: service.planLimits,
    clock,
    log,
  }
  const [notifier, sender] = [createNotifier(context), createSender(context)]
  return {
    notifier,
    sender,
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
  }
}
