import { hash } from 'node:crypto'
import type { Attempt, Target } from '../domain/alerts/channel.ts'
import type { Message } from '../domain/alerts/message.ts'
import { rejected, retry, sent } from './attempt.ts'
import type { ChannelContext, MailSettings } from './context.ts'
import { emailHtml, emailText } from './email-body.ts'
import { cut, line } from './line.ts'
import { contentOf } from './text.ts'
import { threadOf } from './thread.ts'

/** What nodemailer adds to errors of SMTP. */
interface MailError extends Error {
  code?: string
  /** The SMTP reply code. */
  responseCode?: number
  response?: string
  command?: string
}

// For each step: connecting, the greeting, and each reply. The sender's lease covers a few of them.
const timeoutMs = 10_000
const totalTimeoutMs = 30_000

/** Sends a message through the operator's mail server, which may have a private address. */
export async function sendEmail(
  { mail, publicUrl, log }: ChannelContext,
  { target }: Target,
  id: string,
  message: Message,
): Promise<Attempt> {
  if (mail === null) return retry(null, notSetUp)
  const recipients = target.split(',')
  try {
    const transport = await openTransport(mail)
    const sending = transport.sendMail({ ...composeEmail(mail, message, id, publicUrl()), to: recipients })
    const info = await withDeadline(sending)
    const refused = info.rejected.map(String)
    const note = refused.length > 0 ? ` Not accepted for ${refused.join(', ')}.` : ''
    return { ...sent, status: replyCode(info.response), response: line(info.response + note, 500) }
  } catch (error) {
    return attemptAfter(error as MailError, log)
  }
}

/** Sends a message that is no alert, to one person. */
export async function sendPlainEmail(
  mail: MailSettings,
  { to, subject, text }: { to: string; subject: string; text: string },
): Promise<void> {
  const transport = await openTransport(mail)
  const headers = { 'Auto-Submitted': 'auto-generated' }
  await withDeadline(transport.sendMail({ from: mail.from, to: [to], subject, text, headers }))
}

const notSetUp = 'The service cannot send email. Ask the operator to set SMTP_URL and ALERT_FROM.'

// Imported with the first email: most installations send none.
async function openTransport({ url }: MailSettings) {
  const { createTransport } = await import('nodemailer')
  return createTransport({
    url,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

export function composeEmail({ from }: MailSettings, message: Message, id: string, publicUrl: string) {
  const content = contentOf(message, publicUrl)
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1)
  // No message has this ID. Mail programs show messages that refer to the same one as a conversation.
  const thread = `<${hash('sha256', `${message.organisation.id}/${threadOf(message)}`).slice(0, 32)}@${domain}>`
  return {
    from,
    subject: cut(content.title, 200),
    text: emailText(content),
    html: emailHtml(content),
    // The same in every attempt, so that mail servers can drop a repeated message.
    messageId: `<${id}@${domain}>`,
    inReplyTo: thread,
    references: thread,
    headers: { 'Auto-Submitted': 'auto-generated' },
  }
}

function attemptAfter(
  { code, responseCode, response = '', command, message }: MailError,
  log: ChannelContext['log'],
): Attempt {
  // Only the operator can do something about these, and may do so before the last attempt.
  if (responseCode === undefined || code === 'EAUTH' || command === 'MAIL FROM') {
    log.warn({ code, command, reply: responseCode, reason: line(message, 500) }, 'an email alert could not be sent')
    return retry(
      responseCode ?? null,
      'The mail server of the service cannot be used. Ask the operator to check SMTP_URL and the log.',
    )
  }
  const details = line(response, 500)
  const attempt =
    responseCode >= 500
      ? rejected(responseCode, 'The mail server rejected the message. Check the addresses of the alert.')
      : retry(responseCode, 'The mail server did not accept the message yet.')
  return { ...attempt, response: details || null }
}

function replyCode(response: string): number | null {
  const [code] = /^\d{3}(?=[ -]|$)/.exec(response) ?? []
  return code === undefined ? null : Number(code)
}

/** A mail server that replies slowly, again and again, must not hold the sender up. */
async function withDeadline<T>(sending: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no result within ${totalTimeoutMs / 1_000} s`)), totalTimeoutMs)
  try {
    return await Promise.race([sending, promise])
  } finally {
    clearTimeout(timer)
  }
}
