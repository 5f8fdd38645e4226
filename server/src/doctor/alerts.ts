import type { Config } from '../config.ts'
import type { DatabaseReader } from './database.ts'
import { type Finding, ok, plural, warn } from './finding.ts'

/** Warns of email alerts that no mail server can send. */
export async function checkAlerts(config: Config, database: DatabaseReader): Promise<Finding> {
  const [row] = await database.rows(
    `select count(*) as total, coalesce(sum(case when disabled_at is not null then 1 else 0 end), 0) as disabled,
       coalesce(sum(case when channel = 'email' and disabled_at is null then 1 else 0 end), 0) as emails
     from alerts`,
  )
  const [total, disabled, emails] = [row?.total, row?.disabled, row?.emails].map(Number) as [number, number, number]
  if (emails > 0 && config.mail === null) {
    const message = `${plural(emails, 'alert goes', 'alerts go')} to email addresses, but SMTP_URL is not set`
    return warn('alerts', message, 'Set SMTP_URL and ALERT_FROM, or remove these alerts')
  }
  return ok('alerts', `${plural(total - disabled, 'alert')} active, ${disabled} disabled`)
}
