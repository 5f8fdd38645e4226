import type { Locator } from 'playwright-core'

/** Closes the dialog of a secret that was not copied. */
export async function closeSecret(dialog: Locator): Promise<void> {
  await dialog.getByRole('button', { name: 'Done' }).click()
  await dialog.getByRole('button', { name: 'Close anyway' }).click()
  await dialog.waitFor({ state: 'detached' })
}
