import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** What the commands that work over HTTP read from the environment. They need none of the service's settings. */
interface RemoteSettings {
  /** Overrides the URL of the login. */
  url: string | null
  key: string | null
  /** Folder of the file that holds the login. */
  configFolder: string
  /** Null to use colour on a terminal only. */
  colour: boolean | null
}

export function readRemoteSettings(env: NodeJS.ProcessEnv = process.env): RemoteSettings {
  // The XDG specification says to ignore relative paths.
  const base = isAbsolute(env.XDG_CONFIG_HOME ?? '') ? (env.XDG_CONFIG_HOME as string) : join(homedir(), '.config')
  return {
    url: env.PROMPTLEDGER_URL || null,
    key: env.PROMPTLEDGER_KEY || null,
    configFolder: join(base, 'promptledger'),
    colour: colourSetting(env),
  }
}

function colourSetting({ NO_COLOR, FORCE_COLOR, TERM }: NodeJS.ProcessEnv): boolean | null {
  if (NO_COLOR) return false
  if (FORCE_COLOR) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return TERM === 'dumb' ? false : null
}
