import { composeEmail } from '../../server/src/alerts/email.ts'
import { pagerDutyEvent } from '../../server/src/alerts/pagerduty.ts'
import { slackMessage } from '../../server/src/alerts/slack.ts'
import { contentOf } from '../../server/src/alerts/text.ts'
import { webhookBody } from '../../server/src/alerts/webhook-body.ts'
import { openedMessage } from '../../testing/alert-messages.ts'
import { type Block, escapeHtml, renderBlocks } from './support/block-kit.ts'
import { type Rendered, takePictures } from './support/pictures.ts'

// Takes a picture of what each channel of an alert shows: `npm run screenshots`. The messages are the ones that are sent.

const publicUrl = 'https://ledger.example.com'
const sans = 'font-family: Lato, "Noto Sans", "DejaVu Sans", Helvetica, Arial, sans-serif'

const pictures = {
  'alert-slack': page(
    720,
    `body { ${sans}; font-size: 15px; line-height: 1.47; color: #1d1c1d }
    .message { display: flex; gap: 8px }
    .icon { flex: none; width: 36px; height: 36px; border-radius: 8px; background: #155e63; color: #fff; font: bold 20px/36px sans-serif; text-align: center }
    .name { font-weight: bold }
    .app { padding: 0 3px; border-radius: 2px; background: #e8e8e8; color: #616061; font-size: 10px; font-weight: bold }
    .time, .context { color: #616061; font-size: 13px }
    h1 { margin: 4px 0 8px; font-size: 18px; line-height: 1.3 }
    p { margin: 8px 0 }
    .fields { display: grid; grid-template-columns: 1fr 1fr; gap: 0 8px }
    .fields p { margin: 4px 0 }
    .actions { display: flex; gap: 8px; margin-top: 12px }
    .actions a { padding: 3px 12px; border: 1px solid #1d1c1d4d; border-radius: 8px; font-size: 13px; font-weight: bold }`,
    `<div class="message"><div class="icon">P</div><div><div><span class="name">Promptledger</span> <span class="app">APP</span>
    <span class="time">18:20</span></div>${renderBlocks(slackMessage(contentOf(openedMessage, publicUrl)).blocks as Block[])}</div></div>`,
  ),
  'alert-email': email(),
  'alert-webhook': json(webhookBody(openedMessage, publicUrl), [
    'POST /hooks/promptledger',
    'Content-Type: application/json',
    'webhook-id: msg_4kQ9sVbL2xTf7Zc1RnWy8HdP',
    'webhook-timestamp: 1794680400',
    'webhook-signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ]),
  'alert-pagerduty': json(pagerDutyEvent(openedMessage, publicUrl, 'R0••••••••••••••••••••••••••••'), [
    'POST https://events.pagerduty.com/v2/enqueue',
    'Content-Type: application/json',
  ]),
}

function email(): Rendered {
  const from = { name: 'Promptledger', address: 'alerts@ledger.example.com' }
  const { subject, html } = composeEmail({ url: '', from }, openedMessage, 'msg_4kQ9sVbL2xTf7Zc1RnWy8HdP', publicUrl)
  const head = `<div style="${sans.replaceAll('"', "'")}; padding: 16px 24px; background: #fff; border-bottom: 1px solid #d1d9e0">
<div style="font-size: 18px; font-weight: bold">${escapeHtml(subject)}</div>
<div style="color: #59636e; font-size: 13px">${from.name} &lt;${from.address}&gt; to team@example.com, 14 November 2026, 18:20</div></div>`
  // Like a mail program: its own header above the unchanged message.
  return {
    width: 720,
    html: html.replace(
      /<body style="margin: 0; padding: 24px;([^>]*)>/,
      `<body style="margin: 0;$1>${head}<div style="padding: 24px">`,
    ),
  }
}

function json(body: object, head: string[]): Rendered {
  const lines = escapeHtml(compact(JSON.stringify(body, null, 2)))
    .replaceAll(/^( *)("[^"]+")(?=: )/gm, '$1<b>$2</b>')
    .split('\n')
  return page(
    860,
    `pre { margin: 0; font: 13px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre-wrap; overflow-wrap: break-word; color: #1f2328 }
    b { font-weight: normal; color: #0550ae }
    .head { margin-bottom: 12px; padding-bottom: 12px; border-bottom: 1px solid #d1d9e0; color: #59636e }`,
    `<pre class="head">${head.map(escapeHtml).join('\n')}</pre><pre>${lines.join('\n')}</pre>`,
  )
}

/** Puts short objects and lists on one line. */
function compact(text: string): string {
  return text.replaceAll(/[[{]\n[^[\]{}]*\n *[\]}]/g, (part) => {
    const oneLine = part.replaceAll(/\n */g, ' ').replaceAll(/^\[ | \]$/g, (bracket) => bracket.trim())
    return oneLine.length < 70 ? oneLine : part
  })
}

function page(width: number, style: string, body: string): Rendered {
  const base = 'body { margin: 0; padding: 20px 24px; background: #fff }'
  return {
    width,
    html: `<!doctype html><html lang="en"><meta charset="utf-8"><title>Alert</title><style>${base} ${style}</style><body>${body}</body></html>`,
  }
}

await takePictures(pictures)
