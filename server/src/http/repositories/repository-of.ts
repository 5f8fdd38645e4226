import type { FastifyRequest } from 'fastify'
import type { Repository } from '../../domain/repositories/repository.ts'
import type { Store } from '../../domain/store.ts'
import { notFound } from '../errors.ts'
import { idParameter } from '../parameters.ts'

/** The repository in the path. One of another organisation is a 404, like an unknown id. */
export async function repositoryOf({ repositories }: Store, request: FastifyRequest): Promise<Repository> {
  const { repository_id: id } = request.params as { repository_id: string }
  const repository = await repositories.find(idParameter(id))
  if (repository === null || repository.organisationId !== request.access.organisationId) throw notFound()
  return repository
}
