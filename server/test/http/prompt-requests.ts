import assert from 'node:assert/strict'
import type { LightMyRequestResponse } from 'fastify'
import { type PromptBody, promptPageSchema } from '../../../contract/prompts.ts'
import { assertMatchesSchema } from '../../../testing/assertions.ts'
import type { Tenant, TestService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** Requests to /api/v1/prompts, with the checks that every test needs. */
export function promptRequests(service: TestService) {
  const admin = () => service.tenant('free', 'admin')

  function request(
    tenant: Pick<Tenant, 'headers'>,
    method: Method,
    path: string,
    body?: object | string,
  ): Promise<LightMyRequestResponse> {
    return service.app.inject({
      method,
      url: `/api/v1/prompts${path}`,
      headers: { ...tenant.headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  }

  async function create(tenant: Tenant, name: string): Promise<PromptBody> {
    const response = await request(tenant, 'POST', '', { name })
    assert.equal(response.statusCode, 201, response.body)
    return response.json().data
  }

  async function list(tenant: Tenant, query = ''): Promise<PromptBody[]> {
    const response = await request(tenant, 'GET', query)
    assert.equal(response.statusCode, 200, response.body)
    assertMatchesSchema(promptPageSchema, response)
    return response.json().data
  }

  async function search(tenant: Tenant, q: string): Promise<string[]> {
    return namesOf(await list(tenant, `?q=${encodeURIComponent(q)}`))
  }

  /** An organisation with these prompts and no others. */
  async function tenantWith(...names: string[]): Promise<Tenant> {
    const tenant = await admin()
    await service.store.prompts.delete(tenant.prompt, service.now, operator)
    for (const name of names) await create(tenant, name)
    return tenant
  }

  return { admin, request, create, list, search, tenantWith }
}

export function namesOf(prompts: PromptBody[]): string[] {
  return prompts.map(({ name }) => name)
}
