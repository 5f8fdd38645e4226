import type { Prompt } from '../../domain/prompt.ts'
import { type CommitNameStores, namesOfVersion } from '../../domain/signals/commit-names.ts'
import { type ContentFilter, contentFilter } from '../../domain/signals/content-filter.ts'
import { type SignalFilter, signalValues } from '../../domain/signals/signal.ts'
import { queriedVersion } from '../../domain/signals/version.ts'
import { checkTimeRange, enumParameter, lastValue, type Query, timeParameter } from '../parameters.ts'

/** Reads the filters of a query. The stores tell what else the version of the filter is called. */
export async function readSignalFilter(stores: CommitNameStores, prompt: Prompt, query: Query): Promise<SignalFilter> {
  const [since, until] = [timeParameter(query, 'since'), timeParameter(query, 'until')]
  checkTimeRange(['since', since], ['until', until])
  const value = enumParameter(query, 'value', signalValues)
  const content = parseContentFilter(query)
  const version = lastValue(query.version) || null
  const versions = version === null ? null : await namesOfVersion(stores, prompt, queriedVersion(version))
  return { value, since, until, versions, content }
}

const memberPrefix = 'metadata.'

function parseContentFilter(query: Query): ContentFilter | null {
  const members = Object.entries(query)
    .filter(([name]) => name.startsWith(memberPrefix))
    .map(([name, values]): [string, string] => [name.slice(memberPrefix.length), lastValue(values) ?? ''])
  return contentFilter({
    hasComment: enumParameter(query, 'comment', ['any']) !== null,
    commentPart: lastValue(query.q) || null,
    members,
  })
}
