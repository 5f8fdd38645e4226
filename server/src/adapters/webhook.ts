import { type Adapter, commonValues } from './adapter.ts'

/** Any JSON over HTTP. The settings of the source say where its fields are. */
export const webhook: Adapter = {
  name: 'webhook',
  authentication: {
    kind: 'hmac',
    algorithm: 'sha256',
    encoding: 'hex',
    header: 'x-promptledger-signature',
    prefix: 'sha256=',
  },
  fields: {},
  values: commonValues,
}
