import { createHistogram, type Histogram } from './histogram.ts'
import { counter, type Family } from './text-format.ts'

export interface RequestMetrics {
  /** Registers a route and returns its handle for `responded`. */
  route(method: string, pattern: string): number
  responded(route: number, status: number, milliseconds: number): void
  families(): Family[]
}

interface Route {
  method: string
  pattern: string
  byStatus: Float64Array
  seconds: Histogram
}

const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const minStatus = 100
const maxStatus = 599

/** Counts responses by route pattern, never by path, so clients cannot create new series. */
export function createRequestMetrics(): RequestMetrics {
  const routes: Route[] = []
  return {
    route(method, pattern) {
      const byStatus = new Float64Array(maxStatus - minStatus + 1)
      return routes.push({ method, pattern, byStatus, seconds: createHistogram(bounds) }) - 1
    },
    responded(route, status, milliseconds) {
      const { byStatus, seconds } = routes[route] as Route
      const i = status - minStatus
      byStatus[i] = (byStatus[i] as number) + 1
      seconds.observe(milliseconds / 1_000)
    },
    families() {
      const used = routes.filter(({ byStatus }) => byStatus.some((count) => count > 0))
      return [
        counter(
          'promptledger_http_requests_total',
          'Requests responded to, by method, route and status. Route "none": no route matched.',
          used.flatMap(({ method, pattern: route, byStatus }) =>
            [...byStatus.entries()]
              .filter(([, count]) => count > 0)
              .map(([i, value]) => ({ labels: { method, route, status: String(i + minStatus) }, value })),
          ),
        ),
        {
          name: 'promptledger_http_request_duration_seconds',
          type: 'histogram',
          help: 'Time from the request headers to the start of the response, by method and route.',
          samples: used.flatMap(({ method, pattern: route, seconds }) => seconds.samples({ method, route })),
        },
      ]
    },
  }
}
