import type { FastifyInstance } from 'fastify'
import { type InvitationBody, type NewInvitationBody, operations } from '../../../../contract/invitations.ts'
import { mailboxOf } from '../../domain/access/email-address.ts'
import { createInvitation, type Invitation } from '../../domain/access/invitation.ts'
import type { Organisation } from '../../domain/access/organisation.ts'
import { createMinuteLimit } from '../../domain/minute-limit.ts'
import { hour, isoTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { cutPage, requestedPage, sendPage } from '../page-body.ts'
import { idParameter } from '../parameters.ts'
import { route } from '../route.ts'

const mailsPerMailbox = 5
const mailsPerOrganisation = 100
const maxSenders = 10_000
const tooMany = 'Too many invitations were sent by email within an hour.'

/** Links that let people join. */
export function invitationRoutes(app: FastifyInstance, { store, signIn, publicUrl, clock, log }: Context): void {
  const ofMailbox = createMinuteLimit(mailsPerMailbox, tooMany, maxSenders, clock, hour)
  const ofOrganisation = createMinuteLimit(mailsPerOrganisation, tooMany, maxSenders, clock, hour)

  /** Beyond the limits, the admin passes the link on: they must not fill mailboxes in the name of the operator. */
  function mayMail(to: string, organisationId: number): boolean {
    try {
      ofMailbox.count(mailboxOf(to))
      ofOrganisation.count(String(organisationId))
      return true
    } catch {
      return false
    }
  }

  /** In the background: the admin has the link too. */
  async function mail(to: string, organisationId: number, url: string): Promise<void> {
    const organisation = (await store.organisations.find(organisationId)) as Organisation
    // Mail programs make links of what looks like one, and its admins choose the name.
    const name = organisation.name.replaceAll(/[.:](?=\S)/g, '$&\u2060')
    const subject = `Join ${name} on Promptledger`
    const text = `You are invited to ${name} on Promptledger. Open this link to join:\n\n${url}\n\nIt works once, for 7 days.\n`
    await signIn.sendMail?.({ to, subject, text })
  }

  route(app, operations.listInvitations, async ({ access, query }, reply) => {
    const invitations = await store.invitations.list(access.organisationId, clock())
    const page = requestedPage(query)
    return sendPage(reply, cutPage(invitations, page).map(toInvitationBody), page, invitations.length)
  })

  route(app, operations.createInvitation, async ({ access, body }, reply) => {
    const { role = 'member', email = null } = body as NewInvitationBody
    const { organisationId } = access
    const { invitation, token } = await createInvitation(
      store.invitations,
      { organisationId, role, email },
      clock(),
      access,
    )
    // In the fragment, which browsers send to no server: it is in no log and no Referer header.
    const url = `${publicUrl()}/sign-in#${token}`
    const { email: address } = invitation
    const to = signIn.sendMail !== null && address !== null && mayMail(address, organisationId) ? address : null
    if (to !== null) {
      mail(to, organisationId, url).catch((error) =>
        log.warn({ err: error }, 'an invitation could not be sent by email'),
      )
    }
    return reply
      .status(201)
      .header('Cache-Control', 'no-store')
      .send({ data: { ...toInvitationBody(invitation), url, is_mailed: to !== null } })
  })

  route(app, operations.revokeInvitation, async ({ access, params }, reply) => {
    const id = idParameter(params, 'invitation_id')
    if ((await store.invitations.revoke(access.organisationId, id, clock(), access)) === null) throw notFound()
    return reply.status(204).send()
  })
}

function toInvitationBody(invitation: Invitation): InvitationBody {
  const { id, role, email, hint, createdBy, createdAt, expiresAt } = invitation
  return {
    id,
    role,
    email,
    hint,
    created_by: createdBy,
    created_at: isoTime(createdAt),
    expires_at: isoTime(expiresAt),
  }
}
