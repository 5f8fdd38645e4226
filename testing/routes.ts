import type { FastifyInstance } from 'fastify'

/** All routes with their methods, as the router prints them: a tree in which each line extends the path of the lines above. */
export function registeredRoutes(app: FastifyInstance): string[] {
  const parts: string[] = []
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', part = '', methods = ''] = /^((?:[│ ] {3})*[├└]── )(\S*)(?: \((.*)\))?$/.exec(line) ?? []
      parts.splice(indent.length / 4 - 1, Number.POSITIVE_INFINITY, part)
      return methods === '' ? [] : methods.split(', ').map((method) => `${method} ${parts.join('')}`)
    })
}
