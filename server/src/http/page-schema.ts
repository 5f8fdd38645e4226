export const pageQuerySchema = {
  type: 'object',
  properties: {
    page: { type: 'integer', default: 1, minimum: 1, description: 'Page number' },
    limit: { type: 'integer', default: 25, minimum: 1, maximum: 100, description: 'Results per page' },
  },
} as const

export const paginationSchema = {
  title: 'Pagination',
  description: 'Position of a page in its list',
  type: 'object',
  required: ['current_page', 'total_pages', 'total_count', 'per_page'],
  properties: {
    current_page: { type: 'integer', description: 'The page returned' },
    total_pages: { type: 'integer', description: 'Number of pages at the current per_page' },
    total_count: { type: 'integer', description: 'Total number of entries' },
    per_page: { type: 'integer', description: 'Page size used' },
  },
  additionalProperties: false,
} as const

export const searchPaginationSchema = {
  ...paginationSchema,
  title: 'SearchPagination',
  description:
    'Position of a page in its list. `total_pages` and `total_count` are null if a search does not know them',
  properties: {
    ...paginationSchema.properties,
    total_pages: { type: ['integer', 'null'], description: 'Number of pages at the current per_page' },
    total_count: { type: ['integer', 'null'], description: 'Total number of entries' },
  },
} as const

/** The pagination of a list that fits on one page. */
export function paginationExample(totalCount: number) {
  return { current_page: 1, total_pages: 1, total_count: totalCount, per_page: 25 }
}
