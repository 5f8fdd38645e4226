import { type Histogram, histogram } from './histogram.ts'
import type { Family } from './text.ts'

export interface RequestMetrics {
  /** A number for the route, to be told with each of its answers. */
  route(method: string, pattern: string): number
  answered(route: number, status: number, milliseconds: number): void
  families(): Family[]
}

interface Route {
  method: string
  pattern: string
  byStatus: Float64Array
  seconds: Histogram
}

const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const lowestStatus = 100
const highestStatus = 599

/** Answers by route, never by address: there are as many series as there are routes, whatever anybody asks for. */
export function requestMetrics(): RequestMetrics {
  const routes: Route[] = []
  return {
    route(method, pattern) {
      const byStatus = new Float64Array(highestStatus - lowestStatus + 1)
      return routes.push({ method, pattern, byStatus, seconds: histogram(bounds) }) - 1
    },
    answered(route, status, milliseconds) {
      const { byStatus, seconds } = routes[route] as Route
      const place = status - lowestStatus
      byStatus[place] = (byStatus[place] as number) + 1
      seconds.observe(milliseconds / 1_000)
    },
    families() {
      const asked = routes.filter(({ byStatus }) => byStatus.some((count) => count > 0))
      return [
        {
          name: 'promptledger_http_requests_total',
          type: 'counter',
          help: 'Requests answered, by route and status. Route "none": nothing is there.',
          samples: asked.flatMap(({ method, pattern: route, byStatus }) =>
            [...byStatus.entries()]
              .filter(([, count]) => count > 0)
              .map(([place, value]) => ({ labels: { method, route, status: String(place + lowestStatus) }, value })),
          ),
        },
        {
          name: 'promptledger_http_request_duration_seconds',
          type: 'histogram',
          help: 'From the headers of a request until its answer is begun, by route.',
          samples: asked.flatMap(({ method, pattern: route, seconds }) => seconds.samples({ method, route })),
        },
      ]
    },
  }
}
