import type { TextMatch } from '@promptledger/client'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import { Link } from 'wouter'
import { ledger } from '../ledger.ts'
import { PageHead } from '../page-head.tsx'
import { changeLabel } from '../prompt/entry-title.ts'
import { changePath, promptPath } from '../prompt/prompt-path.ts'
import { SearchField } from '../prompts/search-field.tsx'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { LoadState } from '../ui/load-state.tsx'
import { formatNumber } from '../ui/number.ts'
import { PromptName } from '../ui/prompt-name.tsx'
import { Time } from '../ui/time.tsx'
import { splitUntrusted, UntrustedText } from '../ui/untrusted-text.tsx'
import { useUrlParams } from '../url-params.ts'

/** Where a phrase is, or ever was, in the texts of all prompts. */
export function TextSearchPage() {
  const [params, setParams] = useUrlParams()
  const phrase = (params.get('q') ?? '').trim()
  const onSearch = useCallback((q: string) => setParams({ q }, { replace: true }), [setParams])
  return (
    <>
      <PageHead title="Search in texts">
        <SearchField
          query={params.get('q') ?? ''}
          onSearch={onSearch}
          label="Phrase in the text of a prompt"
          placeholder="Phrase, such as “refund”"
        />
      </PageHead>
      {phrase === '' ? (
        <EmptyState title="What are you looking for?">
          <p>Finds a phrase in the live and past texts of all prompts, and the change that brought it.</p>
        </EmptyState>
      ) : (
        <Results key={phrase} phrase={phrase} />
      )}
    </>
  )
}

function Results({ phrase }: { phrase: string }) {
  const query = useInfiniteQuery({
    queryKey: ['texts', phrase],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ signal, pageParam: cursor }) => await ledger.versions.search(phrase, { cursor }, { signal }),
    getNextPageParam: ({ search }) => search.cursor ?? undefined,
  })
  const pages = query.data?.pages ?? []
  const matches = pages.flatMap(({ data }) => data).sort((a, b) => Number(b.live) - Number(a.live))
  const sum = (field: 'examined' | 'skipped') => pages.reduce((total, { search }) => total + search[field], 0)
  const [examined, skipped] = [sum('examined'), sum('skipped')]
  return (
    <>
      <LoadState query={query} what="the texts" />
      {query.data !== undefined && matches.length === 0 && !query.hasNextPage && (
        <EmptyState title="Not found">
          <p>
            No version of any prompt contains “
            <UntrustedText text={phrase} />
            ”.
          </p>
        </EmptyState>
      )}
      {matches.length > 0 && (
        <ol className="text-matches" aria-label="Versions with this phrase">
          {matches.map((match) => (
            <Match key={match.entry.id} {...match} />
          ))}
        </ol>
      )}
      {query.data !== undefined && (
        <div className="search-more">
          <p role="status">
            {matches.length === 0 && query.hasNextPage && 'No match so far. '}
            Searched {formatNumber(examined)} {examined === 1 ? 'version' : 'versions'}.
            {skipped > 0 && ` ${formatNumber(skipped)} could not be searched: their text is not in git.`}
          </p>
          {query.hasNextPage && (
            <Button onClick={() => query.fetchNextPage()} disabled={query.isFetchingNextPage}>
              {query.isFetchingNextPage ? 'Searching…' : 'Search the rest'}
            </Button>
          )}
        </div>
      )}
    </>
  )
}

function Match({ prompt, entry, first_entry, version_count, live, live_from, live_until, excerpt }: TextMatch) {
  const [before, match, after] = splitUntrusted([
    { text: excerpt.before },
    { text: excerpt.match },
    { text: excerpt.after },
  ])
  return (
    <li className="card text-match">
      <p className="text-match-head">
        <Link href={`${promptPath(prompt.id)}/text?version=${entry.id}`}>
          <PromptName name={prompt.name} />
        </Link>
        <Badge tone={live ? 'good' : 'plain'}>{live ? 'Live' : 'Past'}</Badge>
        <span className="muted small">
          <Time at={live_from} as="date" /> to {live_until === null ? 'now' : <Time at={live_until} as="date" />}
          {version_count > 1 && `, ${formatNumber(version_count)} versions`}
        </span>
      </p>
      <blockquote>
        {before !== undefined && <UntrustedText {...before} />}
        <mark>{match !== undefined && <UntrustedText {...match} />}</mark>
        {after !== undefined && <UntrustedText {...after} />}
      </blockquote>
      <p className="small">
        Since{' '}
        <Link href={changePath(prompt.id, first_entry.id)}>
          <UntrustedText text={changeLabel(first_entry)} />
        </Link>
      </p>
    </li>
  )
}
