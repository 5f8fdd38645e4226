import type { Prompt, SessionInfo } from '@promptledger/client'
import { useEffect, useState } from 'react'
import { useFirstRepositories } from '../prompts/attention-queries.ts'
import { useUsage } from '../usage/usage-query.ts'
import { isSample } from './prompt-choice.ts'

export interface SetUpState {
  isShown: boolean
  isSignalReceived: boolean
  isRepositoryConnected: boolean
  hide: () => void
  show: () => void
}

/**
 * How far the organisation is set up. `prompts` are those with signals, and others; signals of the sample alone are a trial. The checklist stays until the page is left, so that
 * a new key does not vanish with it.
 */
export function useSetUp({ organisation, key }: SessionInfo, prompts: Prompt[]): SetUpState {
  const isAdmin = key.role === 'admin'
  const usage = useUsage()
  const repositories = useFirstRepositories(isAdmin)
  const [isHidden, setIsHidden] = useHidden(organisation.id)
  const [isKept, setIsKept] = useState(false)
  const isKnown = usage.isSuccess && (repositories.isSuccess || !isAdmin)
  const voted = prompts.filter(({ signals }) => signals.positive + signals.negative > 0)
  const isTrial = voted.length > 0 && voted.every(isSample)
  const isSignalReceived = !isTrial && (usage.data?.months.some(({ used }) => used > 0) ?? false)
  const isRepositoryConnected = repositories.data?.some(({ state }) => state !== 'disconnected') ?? false
  // Only an admin can connect a repository, or see whether there is one.
  const isOpen = isKnown && !isHidden && !(isSignalReceived && (isRepositoryConnected || !isAdmin))
  useEffect(() => {
    if (isOpen) setIsKept(true)
  }, [isOpen])
  return {
    isShown: isOpen || (isKept && !isHidden),
    isSignalReceived,
    isRepositoryConnected,
    hide: () => setIsHidden(true),
    show: () => {
      setIsHidden(false)
      setIsKept(true)
    },
  }
}

/** Whether the checklist of this organisation is hidden, stored in this browser. */
function useHidden(organisationId: number): [boolean, (isHidden: boolean) => void] {
  const storageKey = `promptledger-set-up-hidden-${organisationId}`
  const [isHidden, setIsHidden] = useState(() => localStorage.getItem(storageKey) !== null)
  return [
    isHidden,
    (hidden) => {
      if (hidden) localStorage.setItem(storageKey, 'true')
      else localStorage.removeItem(storageKey)
      setIsHidden(hidden)
    },
  ]
}
