import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Builds the wheel and the source distribution of the Python client. Writes beside the sources, so pass a copy or a clone. */
export async function buildWheel(python: string, sources: string, folder: string): Promise<void> {
  // Debian packages hatchling without a module that only editable installs need.
  const args = '-m build --sdist --wheel --no-isolation --skip-dependency-check --outdir'.split(' ')
  await promisify(execFile)(python, [...args, folder, sources])
}
