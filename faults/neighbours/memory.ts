import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { childrenOf } from '../../testing/child-processes.ts'

/**
 * The resident memory of the service and all its descendants, in megabytes. Pages that several processes map from the same
 * files count once: of the node executable for service and worker, of git and the packs for all processes of git.
 */
export interface MemorySample {
  at: number
  total: number
  service: number
  worker: number
  git: number
  gitProcesses: number
}

const pageBytes = 4096

/** Samples the memory in a thread of its own until the returned function is called. */
export async function watchMemory(pid: number, intervalMs: number): Promise<() => Promise<MemorySample[]>> {
  const samples: MemorySample[] = []
  const thread = new Worker(new URL(import.meta.url), { workerData: { pid, intervalMs } })
  thread.on('message', (sample: MemorySample) => samples.push(sample))
  await once(thread, 'message')
  return async () => {
    await thread.terminate()
    return samples
  }
}

/** The process of the service that runs the worker; null if there is none. */
export function workerOf(servicePid: number): number | null {
  return childrenOf(servicePid).find((pid) => /\/worker\.[jt]s\b/.test(read(`/proc/${pid}/cmdline`))) ?? null
}

function sample(pid: number): MemorySample {
  const children = childrenOf(pid)
  const git = children.flatMap(childrenOf).flatMap(withDescendants).map(residentOf)
  const own = residentOf(pid)
  const service = own.private + own.shared
  const worker = sum(children.map((child) => residentOf(child).private))
  const ofGit = sum(git.map((each) => each.private)) + Math.max(0, ...git.map(({ shared }) => shared))
  return { at: Date.now(), total: service + worker + ofGit, service, worker, git: ofGit, gitProcesses: git.length }
}

function withDescendants(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(withDescendants)]
}

function residentOf(pid: number): { private: number; shared: number } {
  const [, resident = 0, shared = 0] = read(`/proc/${pid}/statm`).split(' ').map(Number)
  return { private: ((resident - shared) * pageBytes) / 2 ** 20, shared: (shared * pageBytes) / 2 ** 20 }
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    // The process has ended.
    return ''
  }
}

if (parentPort !== null && workerData !== null && 'pid' in workerData) {
  for (;;) {
    parentPort.postMessage(sample(workerData.pid))
    await pause(workerData.intervalMs)
  }
}
