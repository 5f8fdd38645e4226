import type { Operation, RequestOptions, Transport } from './request.ts'

/** Sends a request and returns the `data` of its response, which is how the API wraps a single resource. */
export async function requestData<Data>(
  { json }: Transport,
  operation: Operation,
  options?: RequestOptions,
): Promise<Data> {
  const { data } = await json<{ data: Data }>(operation, options)
  return data
}
