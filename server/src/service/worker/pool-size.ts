const maxConnections = 5

/** How many connections to PostgreSQL the worker process of a service uses. */
export function workerPoolSize(databasePoolSize: number): number {
  return Math.min(databasePoolSize, maxConnections)
}
