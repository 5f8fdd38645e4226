import type { FastifyReply } from 'fastify'

const maxBytes = 40 * 1024 * 1024
const maxBytesPerOrganisation = maxBytes / 2

/** Counts the texts of each response until the client has read it or disconnects. */
export function createUnsentBytes() {
  const byOrganisation = new Map<number, number>()
  let total = 0
  const add = (organisationId: number, bytes: number) => {
    total += bytes
    const left = (byOrganisation.get(organisationId) ?? 0) + bytes
    if (left === 0) byOrganisation.delete(organisationId)
    else byOrganisation.set(organisationId, left)
  }
  return {
    isFull: (organisationId: number) =>
      total >= maxBytes || (byOrganisation.get(organisationId) ?? 0) >= maxBytesPerOrganisation,
    add(organisationId: number, bytes: number, { raw }: FastifyReply): void {
      if (bytes === 0 || raw.destroyed) return
      add(organisationId, bytes)
      let isCounted = true
      const subtract = () => {
        if (isCounted) add(organisationId, -bytes)
        isCounted = false
      }
      raw.once('finish', subtract).once('close', subtract)
    },
  }
}
