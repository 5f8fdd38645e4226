import { Agent } from 'node:http'
import { eventually } from '../../testing/eventually.ts'
import { GitRepository } from '../../testing/git-repository.ts'
import { deliveriesFrom, type ForgeDeliveries } from '../../testing/payloads/deliveries.ts'
import type { Delivery } from '../../testing/payloads/facts.ts'
import { type HttpRequest, type HttpResponse, send } from '../http.ts'
import { check, type Site } from './attack.ts'

const agent = new Agent({ maxSockets: 1_000 })

export function request({ service }: Site, options: HttpRequest): Promise<HttpResponse> {
  return send(agent, service.port, options)
}

/** Sends a request under /api/v1, which must succeed, and returns its data. */
export async function api<T>(site: Site, key: string, method: string, path: string, body?: object): Promise<T> {
  const text = body === undefined ? {} : { body: JSON.stringify(body) }
  const response = await request(site, { method, path: `/api/v1${path}`, key, ...text })
  check(response.status < 300, `${method} ${path} was answered with ${response.status}: ${response.body}`)
  return response.body === '' ? (undefined as T) : JSON.parse(response.body).data
}

/** A new key of the attacker. */
export function createKey(site: Site, terms: { role: string; prompts?: string }): Promise<{ id: number; key: string }> {
  return api(site, site.attacker.key, 'POST', '/keys', { name: terms.role, ...terms })
}

export interface Connected {
  id: number
  /** The key of the organisation. */
  key: string
  hook: string
  secret: string
  forge: ForgeDeliveries
  git: GitRepository
  /** The prompt at prompts/p.md. */
  promptId: string
}

/** A repository with one prompt. */
export function createRemote({ remotes }: Site): GitRepository {
  const git = new GitRepository()
  remotes.push(git)
  git.commit('Start', { 'prompts/p.md': 'Be kind.\n' })
  git.push()
  return git
}

export async function connect(site: Site, key: string, git = createRemote(site)): Promise<Connected> {
  interface Body {
    id: number
    webhook_url: string
    webhook_secret: string
    prompts: { id: string; path: string }[]
  }
  const settings = { forge: 'github', url: git.remote, path: 'prompts/**' }
  const {
    id,
    webhook_url,
    webhook_secret: secret,
    prompts,
  } = await api<Body>(site, key, 'POST', '/repositories', settings)
  const isOurs = ({ path }: { path: string | null }) => path === 'prompts/p.md'
  // A large repository may still be read when the response is sent.
  const promptId = await eventually(async () => {
    const found =
      prompts.find(isOurs) ?? (await api<Body['prompts']>(site, key, 'GET', '/prompts?limit=100')).find(isOurs)
    if (found === undefined) throw new Error('the prompt does not exist yet')
    return found.id
  })
  const hook = new URL(webhook_url).pathname
  return { id, key, hook, secret, forge: deliveriesFrom('github', secret), git, promptId }
}

/** Sends a delivery as the forge would, and returns the status. */
export async function deliver({ service }: Site, hook: string, { headers, body }: Delivery): Promise<number> {
  const response = await fetch(service.address + hook, { method: 'POST', headers, body: new Uint8Array(body) })
  await response.arrayBuffer()
  return response.status
}

export interface Entry {
  id: number
  action: string
  commit_sha: string
}

export function historyOf(site: Site, { key, promptId }: Pick<Connected, 'key' | 'promptId'>): Promise<Entry[]> {
  return api(site, key, 'GET', `/prompts/${promptId}/history?limit=100`)
}

/** The value of one sample of the metrics; 0 if there is none. */
export async function metric({ service }: Site, sample: string): Promise<number> {
  const text = await (await fetch(JSON.parse(service.output().stdout).metrics)).text()
  const line = text.split('\n').find((each) => each.startsWith(`${sample} `))
  return Number(line?.slice(sample.length) ?? 0)
}
