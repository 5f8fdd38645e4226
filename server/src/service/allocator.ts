import { setFlagsFromString } from 'node:v8'

/**
 * The environment of a process that gives memory back: one arena of glibc's allocator for all threads, and large buffers return
 * to the system when they are freed. glibc reads it when a process starts, so it is also in the Dockerfile, the systemd unit and
 * `npm start`: docs/decisions/0077-allocator-settings.md.
 */
export const allocator = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '32768', MALLOC_TRIM_THRESHOLD_: '131072' }

/** Lets the heap of this process grow by little before garbage is collected. By default, a backfill needs twice as much memory. */
export function collectGarbageEarly(): void {
  setFlagsFromString('--optimize-for-size')
}
