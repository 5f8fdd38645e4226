import type { Channel } from '../domain/alerts/alert.ts'
import { invalidField } from '../domain/errors.ts'
import { validLine } from '../domain/text.ts'

/** What decides which targets are accepted. */
export interface TargetRules {
  /** Whether URLs may be plain http, which only receivers in a private network should be. */
  allowPrivate: boolean
  /** Whether the operator has set up email. */
  hasMail: boolean
}

export interface ValidTarget {
  target: string
  /** What of it may be shown and logged. */
  hint: string
}

const maxLength = 2_000
const maxAddresses = 10
// As browsers check them, with ASCII characters that need no quoting in a header.
const emailAddress =
  /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/

/** Checks where an alert goes. Whether the host is public is checked when a message is sent, because names change. */
export function validTarget(channel: Channel, text: string, rules: TargetRules): ValidTarget {
  const target = validLine('target', text.trim(), maxLength)
  switch (channel) {
    case 'webhook':
    case 'cloudevents':
    case 'slack':
    case 'teams':
    case 'discord':
      return validUrl(target, rules)
    case 'email':
      if (!rules.hasMail) throw invalidField('target', 'cannot be an email address: the operator has not set SMTP_URL')
      return validAddresses(target)
    case 'pagerduty':
      return validRoutingKey(target)
    case 'linear':
      return validLinear(target)
  }
}

/** A bot token of the workspace that the alert posts to. Null for none. */
export function validSlackToken(channel: Channel, text: string | null): string | null {
  if (text === null) return null
  if (channel !== 'slack') throw invalidField('slackToken', 'is only for alerts to Slack')
  if (!/^xoxb-[0-9A-Za-z-]{10,250}$/.test(text.trim())) {
    throw invalidField('slackToken', 'must be a bot token, which starts with xoxb-')
  }
  return text.trim()
}

function validUrl(text: string, { allowPrivate }: TargetRules): ValidTarget {
  const url = URL.parse(text)
  const schemes = allowPrivate ? ['https:', 'http:'] : ['https:']
  if (url === null || !schemes.includes(url.protocol)) {
    const needsPrivate = url?.protocol === 'http:' ? '. Plain http needs ALLOW=private-alert-targets' : ''
    throw invalidField('target', `must be ${allowPrivate ? 'an https or http' : 'an https'} URL${needsPrivate}`)
  }
  if (url.username !== '' || url.password !== '') {
    throw invalidField('target', 'must not contain a user name or password')
  }
  url.hash = ''
  // The path of a URL of Slack, and of many webhooks, is a secret.
  return { target: url.href, hint: url.host }
}

function validAddresses(text: string): ValidTarget {
  const addresses = [...new Set(text.split(/[,;\s]+/).filter(Boolean))]
  const wrong = addresses.find((address) => address.length > 254 || !emailAddress.test(address))
  if (wrong !== undefined || addresses.length === 0) {
    throw invalidField('target', 'must be email addresses such as team@example.com, separated by commas')
  }
  if (addresses.length > maxAddresses) throw invalidField('target', `must have at most ${maxAddresses} email addresses`)
  return { target: addresses.join(), hint: addresses.join(', ') }
}

function validRoutingKey(text: string): ValidTarget {
  if (!/^(eu:)?[A-Za-z0-9]{32}$/.test(text)) {
    throw invalidField(
      'target',
      'must be the integration key of an Events API v2 integration, 32 letters and digits, with eu: before it in the EU region',
    )
  }
  return { target: text, hint: `…${text.slice(-4)}` }
}

const linearTarget = /^([A-Za-z0-9]{1,10}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):(lin_api_[A-Za-z0-9]{20,200})$/

function validLinear(text: string): ValidTarget {
  const [, team, apiKey] = linearTarget.exec(text) ?? []
  if (team === undefined || apiKey === undefined) {
    throw invalidField(
      'target',
      'must be the key or the ID of a team in Linear, a colon and a personal API key, such as ENG:lin_api_…',
    )
  }
  return { target: text, hint: `${team}, …${apiKey.slice(-4)}` }
}
