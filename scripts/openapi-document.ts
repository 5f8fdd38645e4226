import { describeApi } from '../server/src/http/docs/openapi.ts'

export const openApiDocument = `${JSON.stringify(describeApi(), null, 2)}\n`
