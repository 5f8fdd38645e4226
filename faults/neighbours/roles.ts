import { type Attack, check } from './attack.ts'
import { api, createKey, request } from './client.ts'

const entry = {
  action: 'deployed',
  user: { name: 'CI', email: 'ci@example.com' },
  commit_sha: 'a1'.repeat(20),
  pr_number: null,
  pr_url: null,
  branch_name: 'main',
}

/** Keys with little access, each tried where it has none. */
export const weakKeys: Attack = {
  name: '10, 11: keys that try more than their role',
  isLoad: false,
  async prepare(site) {
    const { key: admin, promptId } = site.attacker
    const recorder = await createKey(site, { role: 'recorder' })
    const reader = await createKey(site, { role: 'reader' })
    const limited = await createKey(site, { role: 'standard', prompts: 'nothing/**' })
    const prompt = `/prompts/${promptId}`
    const signal = { value: 'positive' }
    const { id: signalId } = await api<{ id: number }>(site, admin, 'POST', `${prompt}/signals`, signal)
    const attempts: [key: string, method: string, path: string, body: object | undefined, status: number][] = [
      [recorder.key, 'POST', `${prompt}/signals`, signal, 403],
      [recorder.key, 'GET', `${prompt}/history`, undefined, 403],
      [recorder.key, 'POST', '/keys', { name: 'x' }, 403],
      [reader.key, 'GET', `${prompt}/history`, undefined, 200],
      [reader.key, 'POST', `${prompt}/signals`, signal, 403],
      [reader.key, 'DELETE', `${prompt}/signals/${signalId}`, undefined, 403],
      [reader.key, 'POST', `${prompt}/history`, entry, 403],
      [limited.key, 'GET', `${prompt}/history`, undefined, 404],
      [limited.key, 'POST', `${prompt}/signals`, signal, 404],
    ]
    return async () => {
      for (const [key, method, path, body, expected] of attempts) {
        const text = body === undefined ? {} : { body: JSON.stringify(body) }
        const { status } = await request(site, { method, path: `/api/v1${path}`, key, ...text })
        check(status === expected, `${method} ${path} was answered with ${status} instead of ${expected}`)
      }
      const body = { ...entry, created_at: new Date().toISOString() }
      const { id } = await api<{ id: number }>(site, recorder.key, 'POST', `${prompt}/history`, body)
      const details = await api<{ key_id: number }>(site, admin, 'GET', `${prompt}/history/${id}`)
      check(details.key_id === recorder.id, 'the entry does not name the key that recorded it')
      const audit = await api<{ action: string; actor: { key_id: number } | null }[]>(site, admin, 'GET', '/audit')
      const isAudited = audit.some(
        ({ action, actor }) => action === 'history.recorded' && actor?.key_id === recorder.id,
      )
      check(isAudited, 'recorded history is not in the audit log')
      return `${attempts.length} attempts; recorded history is audited`
    }
  },
}
