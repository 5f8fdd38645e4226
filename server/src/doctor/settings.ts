import { type Config, readConfig } from '../config.ts'
import { type Finding, fail, ok, reasonOf, warn } from './finding.ts'

/** Also returns the settings that other checks need, even if unrelated ones are invalid. */
export function checkSettings(env: NodeJS.ProcessEnv): { finding: Finding; config: Config | null } {
  try {
    const config = readConfig(env)
    const warnings = warningsOf(config)
    if (warnings.length > 0) {
      const [messages, fixes] = [warnings.flatMap(({ messages }) => messages), warnings.map(({ fix }) => fix)]
      return { config, finding: warn('settings', messages.join('; '), fixes.join('. ')) }
    }
    const limits = Object.entries(config.planLimits).map(
      ([plan, limit]) => `${plan} ${limit?.toLocaleString('en') ?? 'unlimited'}`,
    )
    const mail = config.mail === null ? 'no, SMTP_URL is not set' : `from ${config.mail.from.address}`
    const summary = `signals a month: ${limits.join(', ')}; email alerts: ${mail}`
    return { config, finding: ok('settings', `all settings are valid (${summary})`) }
  } catch (error) {
    const finding = fail(
      'settings',
      reasonOf(error),
      'Correct them as in .env.example. The service does not start until then',
    )
    const needed = /^(DATABASE_|DATA_DIR$|PROMPTLEDGER_SECRET_KEY)/
    try {
      const config = readConfig(Object.fromEntries(Object.entries(env).filter(([name]) => needed.test(name))))
      return { finding, config }
    } catch {
      return { finding, config: null }
    }
  }
}

function warningsOf({ host, publicUrl, replaced, mistyped, signIn }: Config): { messages: string[]; fix: string }[] {
  const isReachable = !['127.0.0.1', '::1', 'localhost'].includes(host)
  return [
    {
      messages: isReachable && publicUrl === null ? [`HOST is ${host}, but PUBLIC_URL is not set`] : [],
      fix: 'Set PUBLIC_URL to the URL at which people and forges reach the service',
    },
    { messages: mistyped, fix: 'Rename or remove these variables: the service ignores them' },
    {
      messages: replaced,
      fix: 'Change them as in .env.example. The old names will be removed in the next major version',
    },
    {
      messages: signIn.problems.map(({ message }) => message),
      fix: 'Correct them as in docs/sign-in.md. Until then, only keys sign in',
    },
  ].filter(({ messages }) => messages.length > 0)
}
