/** The tables whose rows have a number, each of which is given once. */
export const numberedTables = [
  'organisations',
  'api_keys',
  'prompts',
  'history_entries',
  'signals',
  'repositories',
  'deliveries',
  'audit',
] as const

export type NumberedTable = (typeof numberedTables)[number]

/** A text, a whole number, or the number of a row of that table. Each may be null. */
export type ColumnKind = 'text' | 'integer' | NumberedTable

export interface ArchiveTable {
  name: string
  columns: Record<string, ColumnKind>
}

/**
 * Everything that an archive holds, in an order in which it can be stored. A test holds it against both databases, so that
 * no migration forgets it.
 */
export const archiveTables: ArchiveTable[] = [
  {
    name: 'organisations',
    columns: { id: 'organisations', name: 'text', plan: 'text', created_at: 'integer' },
  },
  {
    name: 'api_keys',
    columns: {
      id: 'api_keys',
      organisation_id: 'organisations',
      name: 'text',
      role: 'text',
      hash: 'text',
      hint: 'text',
      created_at: 'integer',
      expires_at: 'integer',
      revoked_at: 'integer',
      last_used_at: 'integer',
    },
  },
  {
    name: 'repositories',
    columns: {
      id: 'repositories',
      organisation_id: 'organisations',
      forge: 'text',
      url: 'text',
      path: 'text',
      similarity: 'integer',
      hook_id: 'text',
      sealed_token: 'text',
      sealed_secret: 'text',
      sealed_old_secret: 'text',
      old_secret_until: 'integer',
      default_branch: 'text',
      tip: 'text',
      web_url: 'text',
      incomplete: 'integer',
      last_sync_at: 'integer',
      last_error: 'text',
      due_at: 'integer',
      wakes: 'integer',
      lease_owner: 'text',
      lease_until: 'integer',
      created_at: 'integer',
      disconnected_at: 'integer',
    },
  },
  {
    name: 'prompts',
    columns: {
      id: 'prompts',
      organisation_id: 'organisations',
      public_id: 'text',
      name: 'text',
      history_count: 'integer',
      created_at: 'integer',
      deleted_at: 'integer',
      repository_id: 'repositories',
      path: 'text',
    },
  },
  {
    name: 'history_entries',
    columns: {
      id: 'history_entries',
      organisation_id: 'organisations',
      prompt_id: 'prompts',
      position: 'integer',
      dedupe_key: 'text',
      action: 'text',
      user_name: 'text',
      user_email: 'text',
      commit_sha: 'text',
      pr_number: 'integer',
      pr_url: 'text',
      branch_name: 'text',
      created_at: 'integer',
      repository_id: 'repositories',
      message: 'text',
      actor: 'text',
      path: 'text',
      old_path: 'text',
      before_blob: 'text',
      after_blob: 'text',
      seq: 'integer',
      orphaned_at: 'integer',
    },
  },
  {
    name: 'pulls',
    columns: {
      organisation_id: 'organisations',
      repository_id: 'repositories',
      number: 'integer',
      settled: 'integer',
      document: 'text',
    },
  },
  {
    name: 'edits',
    columns: {
      organisation_id: 'organisations',
      repository_id: 'repositories',
      commit_sha: 'text',
      prompt_id: 'prompts',
      seq: 'integer',
      path: 'text',
      old_path: 'text',
      old_blob: 'text',
      new_blob: 'text',
      author_name: 'text',
      author_email: 'text',
      side_author_name: 'text',
      side_author_email: 'text',
      committed_at: 'integer',
      message: 'text',
      branch: 'text',
      actor: 'text',
      mark: 'integer',
      pull: 'integer',
      held_until: 'integer',
      orphaned_at: 'integer',
    },
  },
  {
    name: 'deliveries',
    columns: {
      id: 'deliveries',
      organisation_id: 'organisations',
      repository_id: 'repositories',
      delivery_id: 'text',
      event: 'text',
      body: 'text',
      state: 'text',
      attempts: 'integer',
      error: 'text',
      received_at: 'integer',
      next_attempt_at: 'integer',
      finished_at: 'integer',
    },
  },
  {
    name: 'audit',
    columns: {
      id: 'audit',
      organisation_id: 'organisations',
      at: 'integer',
      key_id: 'api_keys',
      key_name: 'text',
      action: 'text',
      subject_id: 'text',
      subject_name: 'text',
      details: 'text',
    },
  },
  {
    name: 'signal_usage',
    columns: { organisation_id: 'organisations', month: 'integer', used: 'integer', month_limit: 'integer' },
  },
  {
    name: 'signal_hours',
    columns: {
      organisation_id: 'organisations',
      prompt_id: 'prompts',
      hour: 'integer',
      positive: 'integer',
      negative: 'integer',
    },
  },
  {
    name: 'idempotency_keys',
    columns: {
      organisation_id: 'organisations',
      key: 'text',
      fingerprint: 'text',
      signal_id: 'signals',
      created_at: 'integer',
    },
  },
  {
    name: 'signals',
    columns: {
      id: 'signals',
      organisation_id: 'organisations',
      prompt_id: 'prompts',
      value: 'text',
      metadata: 'text',
      created_at: 'integer',
    },
  },
]
