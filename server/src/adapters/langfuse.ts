import { type Adapter, commonValues } from './adapter.ts'

/** Scores, each with the prompt of its generation, as poll-langfuse.ts reads them. */
export const langfuse: Adapter = {
  name: 'langfuse',
  authentication: { kind: 'none' },
  // Scores of a judge (EVAL) are no votes of people.
  only: { at: '$.source', in: ['API', 'ANNOTATION'] },
  fields: {
    prompt: '$.prompt.name',
    version: '$.prompt.version',
    value: { any: ['$.stringValue', '$.value'] },
    comment: '$.comment',
    // A score that is changed keeps its ID.
    subject: '$.id',
    voter: { any: ['$.trace.userId', '$.authorUserId'] },
    time: '$.timestamp',
  },
  values: commonValues,
  midpoint: 0.5,
}
