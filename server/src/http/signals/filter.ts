import { type ContentFilter, contentFilter } from '../../domain/signals/content-filter.ts'
import { type SignalFilter, signalValues } from '../../domain/signals/signal.ts'
import { queriedVersion } from '../../domain/signals/version.ts'
import { checkTimeRange, enumParameter, lastValue, type Query, timeParameter } from '../parameters.ts'

export function parseSignalFilter(query: Query): SignalFilter {
  const [since, until] = [timeParameter(query, 'since'), timeParameter(query, 'until')]
  checkTimeRange(['since', since], ['until', until])
  const version = lastValue(query.version) || null
  return {
    value: enumParameter(query, 'value', signalValues),
    since,
    until,
    version: version === null ? null : queriedVersion(version),
    content: parseContentFilter(query),
  }
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
