import { Search } from 'lucide-react'
import { useEffect, useState } from 'react'

const typingDelayMs = 250

export function SearchField({ query, onSearch }: { query: string; onSearch: (query: string) => void }) {
  const [text, setText] = useState(query)
  useEffect(() => setText(query), [query])
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
        aria-label="Search prompts"
        placeholder="Name or path"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </search>
  )
}
