// Loaded when someone first needs a part of it. One file for all: each part alone would be a few kilobytes, and most of its code is
// shared with the others, so that many small files together are 5% larger.
export { AlertPage } from './alerts/alert-page.tsx'
export { AlertsPage } from './alerts/alerts-page.tsx'
export { AuditPage } from './audit/audit-page.tsx'
export { KeysPage } from './keys/keys-page.tsx'
export { SettingsPage } from './organisation/settings-page.tsx'
export { downloadChart } from './prompt/chart-export.ts'
export { RegressionsPage } from './regressions/regressions-page.tsx'
export { RepositoriesPage } from './repositories/repositories-page.tsx'
export { RepositoryPage } from './repositories/repository-page.tsx'
export { SetUp } from './setup/set-up.tsx'
export { ComparePage } from './versions/compare-page.tsx'
export { TextPage } from './versions/text-page.tsx'
