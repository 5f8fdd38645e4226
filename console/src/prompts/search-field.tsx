import { Search } from 'lucide-react'
import { useEffect } from 'react'
import { useDraft } from '../ui/draft.ts'

const typingDelayMs = 250

interface Props {
  query: string
  onSearch: (query: string) => void
  label?: string
  placeholder?: string
}

export function SearchField({ query, onSearch, label = 'Search prompts', placeholder = 'Name or path' }: Props) {
  const [text, setText] = useDraft(query)
  useEffect(() => {
    if (text === query) return
    const timer = setTimeout(() => onSearch(text), typingDelayMs)
    return () => clearTimeout(timer)
  }, [text, query, onSearch])
  return (
    <search className="search-field">
      <Search aria-hidden="true" />
      <input
        type="search"
        aria-label={label}
        placeholder={placeholder}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </search>
  )
}
