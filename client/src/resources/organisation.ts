import { requestData } from '../data.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { OrganisationName, Organisation as WireOrganisation } from '../types.ts'

export type Organisation = ReturnType<typeof organisation>

export function organisation(service: Transport) {
  return {
    /** Returns the organisation of the key, with its plan and its limits. */
    get(options?: RequestOptions): Promise<WireOrganisation> {
      return requestData(service, { method: 'GET', path: '/organisation' }, options)
    },

    /** Renames the organisation and returns it. Needs a key with the role `admin`. */
    rename(body: OrganisationName, options?: RequestOptions): Promise<WireOrganisation> {
      return requestData(service, { method: 'PATCH', path: '/organisation', body }, options)
    },
  }
}
