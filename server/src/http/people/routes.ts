import type { FastifyInstance, FastifyRequest } from 'fastify'
import { operations, type PersonUpdateBody } from '../../../../contract/people.ts'
import type { Person } from '../../domain/access/person.ts'
import type { Context } from '../context.ts'
import { forbidden, notFound } from '../errors.ts'
import { requestedPage, sendPage } from '../page-body.ts'
import { idParameter } from '../parameters.ts'
import { beforeBody, route } from '../route.ts'
import { toPersonBody } from './body.ts'

/** The people of the organisation. */
export function personRoutes(app: FastifyInstance, { store, clock }: Context): void {
  async function findPerson({ params, access }: FastifyRequest): Promise<Person> {
    const person = await store.people.find(access.organisationId, idParameter(params, 'person_id'))
    if (person === null) throw notFound()
    return person
  }

  route(app, operations.listPeople, async ({ access, query }, reply) => {
    // Such a key may be that of another company.
    if (access.prompts !== null) throw forbidden(access.role)
    const page = requestedPage(query)
    const { people, totalCount } = await store.people.page(access.organisationId, page)
    return sendPage(reply, people.map(toPersonBody), page, totalCount)
  })

  route(
    app,
    operations.updatePerson,
    async (request) => {
      const { role, disabled } = request.body as PersonUpdateBody
      const { access } = request
      let person = await findPerson(request)
      if (role !== undefined) person = await store.people.setRole(person, role, 'admin', clock(), access)
      if (disabled === true) person = await store.people.disable(person, clock(), access)
      if (disabled === false) person = await store.people.enable(person, clock(), access)
      return { data: toPersonBody(person) }
    },
    beforeBody(findPerson),
  )

  route(app, operations.deletePerson, async (request, reply) => {
    await store.people.delete(await findPerson(request), clock(), request.access)
    return reply.status(204).send()
  })
}
