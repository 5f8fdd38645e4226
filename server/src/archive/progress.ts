/** Called when a task starts; the returned function is called as it advances. */
export type StartProgress = (task: string, total: number, unit: string) => (more: number) => void
