// The script of /docs. The page is complete without it: it adds the search, the copy buttons and the forms.
import { addCopyButtons } from './copy.js'
import { addSearch } from './search.js'
import { addForms } from './try-it.js'

addSearch()
addCopyButtons(document.body)
addForms()
