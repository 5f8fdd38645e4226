export interface Person {
  name: string
  email: string
  /** The name that the forge knows. */
  login: string
}

export const ines: Person = { name: 'Inès Moreau', email: 'ines@acme.example', login: 'ines-moreau' }
export const tomasz: Person = { name: 'Tomasz Zieliński', email: 'tomasz@acme.example', login: 'tzielinski' }
export const priya: Person = { name: 'Priya Nair', email: 'priya@acme.example', login: 'priyanair' }
export const jonas: Person = { name: 'Jonas Weber', email: 'jonas@acme.example', login: 'jweber' }
export const aisha: Person = { name: 'Aisha Bello', email: 'aisha@acme.example', login: 'aishab' }

/** Who merges or closes what the author proposed. */
export function reviewerOf(author: Person): Person {
  return author === priya ? jonas : priya
}
