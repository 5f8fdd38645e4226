export interface Person {
  name: string
  email: string
  /** The user name on the forge. */
  login: string
}

/** The authors in the data files, by first name. */
export const people = {
  ines: { name: 'Inès Moreau', email: 'ines@acme.example', login: 'ines-moreau' },
  tomasz: { name: 'Tomasz Zieliński', email: 'tomasz@acme.example', login: 'tzielinski' },
  priya: { name: 'Priya Nair', email: 'priya@acme.example', login: 'priyanair' },
  jonas: { name: 'Jonas Weber', email: 'jonas@acme.example', login: 'jweber' },
  aisha: { name: 'Aisha Bello', email: 'aisha@acme.example', login: 'aishab' },
} as const satisfies Record<string, Person>

/** The person who merges or closes the author's pull requests. */
export function reviewerOf(author: Person): Person {
  return author === people.priya ? people.jonas : people.priya
}
