/** The part of oidc-provider that tests use. It has no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  interface Grant {
    addOIDCScope(scope: string): void
    save(): Promise<string>
  }

  export interface Configuration {
    loadExistingGrant(context: {
      oidc: {
        client?: { clientId: string }
        session?: { accountId: string }
        provider: { Grant: new (terms: { clientId: string; accountId: string }) => Grant }
      }
    }): Promise<Grant>
    findAccount(context: unknown, id: string): { accountId: string; claims(): Promise<object> }
    renderError(context: { body: unknown }, out: object): void
    interactions: { url(context: unknown, interaction: { uid: string }): string }
    [setting: string]: unknown
  }

  // biome-ignore lint/style/noDefaultExport: it has no other.
  export default class Provider {
    constructor(issuer: string, configuration: Configuration)
    on(event: 'server_error', listener: () => void): void
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>
  }
}
