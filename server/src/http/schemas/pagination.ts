import Type from 'typebox'

export const PageQuery = Type.Object({
  page: Type.Optional(Type.Integer({ default: 1, minimum: 1, description: 'Page number' })),
  limit: Type.Optional(Type.Integer({ default: 25, minimum: 1, maximum: 100, description: 'Results per page' })),
})

export const PaginationBody = Type.Object({
  current_page: Type.Integer({ description: 'The page returned' }),
  total_pages: Type.Integer({ description: 'Number of pages at the current per_page' }),
  total_count: Type.Integer({ description: 'Total number of entries' }),
  per_page: Type.Integer({ description: 'Page size used' }),
})
