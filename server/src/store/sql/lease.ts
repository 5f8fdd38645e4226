import type { Lease } from '../../domain/repositories/lease.ts'
import { type Statement, statement } from './database.ts'

/** Must be the first statement of a transaction that only the holder of the lease may run. */
export function requireLease({ repository, owner }: Lease): Statement {
  return {
    ...statement(
      `update repositories set lease_until = lease_until
       where organisation_id = ? and id = ? and lease_owner = ? and disconnected_at is null returning id`,
      [repository.organisationId, repository.id, owner],
    ),
    orThrow: () => new Error('Lost the lease: another process took over the repository'),
  }
}
