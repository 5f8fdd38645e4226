import type { Role } from '@promptledger/client'

export const roles: { role: Role; may: string }[] = [
  { role: 'ingest', may: 'Creates signals, nothing else: for applications.' },
  { role: 'standard', may: 'The same, and reads prompts, history, signals and usage; may sign in here.' },
  { role: 'admin', may: 'The same, and manages prompts, keys and repositories.' },
]
