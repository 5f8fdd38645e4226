import type { Operation, RequestOptions, Transport } from './request.ts'

/** What the answer holds. Answers of one thing wrap it in `data`, so that there is room beside it. */
export async function dataOf<Data>({ json }: Transport, operation: Operation, options?: RequestOptions): Promise<Data> {
  const { data } = await json<{ data: Data }>(operation, options)
  return data
}
