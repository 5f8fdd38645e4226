import { useCallback } from 'react'
import { usePageTitle } from '../page-head.tsx'
import { existing, LoadState, PageState } from '../ui/load-state.tsx'
import { useIsPhone } from '../ui/media-query.ts'
import { pageFrom, useUrlParams } from '../url-params.ts'
import { NoLiveText } from './missing-text.tsx'
import { PromptHead } from './prompt-head.tsx'
import { VersionList } from './version-list.tsx'
import { useLive, usePrompt } from './version-queries.ts'
import { EarliestText, VersionText } from './version-text.tsx'

/** The text of a prompt at any version, with the list of versions. Without a version, the live one. */
export function TextPage({ id }: { id: string }) {
  const prompt = usePrompt(id)
  usePageTitle(prompt.data === undefined ? 'Text' : `Text of ${prompt.data.name}`)
  const data = existing(prompt)
  if (data === undefined) return <PageState query={prompt} what="the prompt" />
  return (
    <>
      <PromptHead prompt={data} section="Text" />
      <h2 className="visually-hidden">Text</h2>
      <div className="versions-layout">
        <Versions promptId={id} />
        <section className="version-view" aria-label="Text of the version">
          <ChosenText id={id} />
        </section>
      </div>
    </>
  )
}

function ChosenText({ id }: { id: string }) {
  const [params] = useUrlParams()
  const version = versionFrom(params)
  const prompt = usePrompt(id)
  const live = useLive(id)
  if (version !== null) return <VersionText key={version} promptId={id} entryId={version} live={live.data ?? null} />
  if (live.data === undefined) return <LoadState query={live} what="the text" />
  if (live.data === null) {
    return <div className="card live-text">{prompt.data && <NoLiveText prompt={prompt.data} />}</div>
  }
  const { entry } = live.data
  if (entry === null) return <EarliestText live={live.data} />
  return <VersionText key={entry.id} promptId={id} entryId={entry.id} live={live.data} />
}

function Versions({ promptId }: { promptId: string }) {
  const [params, setParams] = useUrlParams()
  const isPhone = useIsPhone()
  const live = useLive(promptId)
  const onSearch = useCallback((q: string) => setParams({ q, page: null }, { replace: true }), [setParams])
  const hrefOf = (entryId: number) => {
    const next = new URLSearchParams(params)
    next.set('version', String(entryId))
    next.delete('line')
    return `?${next}`
  }
  const version = versionFrom(params) ?? live.data?.entry?.id ?? null
  const list = (
    <VersionList
      promptId={promptId}
      selected={version}
      q={params.get('q') ?? ''}
      page={pageFrom(params)}
      onSearch={onSearch}
      onPage={(page) => setParams({ page: page === 1 ? null : String(page) })}
      hrefOf={hrefOf}
    />
  )
  if (!isPhone) return <aside aria-label="Versions">{list}</aside>
  return (
    <details key={version} className="card version-menu">
      <summary>Choose another version</summary>
      {list}
    </details>
  )
}

/** The history entry in the URL whose text is shown; null for the live version. */
function versionFrom(params: URLSearchParams): number | null {
  const version = Number(params.get('version'))
  return Number.isInteger(version) && version > 0 ? version : null
}
