import type { FastifyInstance } from 'fastify'
import { operations } from '../../../../contract/sign-in.ts'
import { SettingProblem } from '../../domain/access/sign-in.ts'
import { isoTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { route } from '../route.ts'
import { providerName, type SignInDesk } from './desk.ts'

// Each check takes three requests to the provider, which may limit them.
const reuseForMs = 5_000

/** Tells admins what keeps people from signing in. */
export function signInCheckRoutes(app: FastifyInstance, { signIn, clock }: Context, desk: SignInDesk): void {
  let last: { problem: Promise<SettingProblem | null>; at: number } | null = null

  async function ask(): Promise<SettingProblem | null> {
    try {
      if (desk.provider !== null) await (await desk.provider()).check()
      return null
    } catch (error) {
      if (error instanceof SettingProblem) return error
      throw error
    }
  }

  function check(): Promise<SettingProblem | null> {
    const now = clock()
    if (last === null || Math.abs(now - last.at) >= reuseForMs) last = { problem: ask(), at: now }
    return last.problem
  }

  route(app, operations.checkSignIn, async () => {
    const found = await check()
    const reported = desk.lastProblem()
    const problems = [
      ...signIn.problems.map(({ setting, message }) => ({ setting, message, at: null })),
      ...(found === null ? [] : [{ setting: found.setting, message: found.message, at: null }]),
      ...(reported === null || reported.message === found?.message ? [] : [{ ...reported, at: isoTime(reported.at) }]),
    ]
    return {
      data: {
        provider: signIn.provider && providerName(signIn.provider.issuer),
        email: signIn.allowsEmail && signIn.sendMail !== null,
        redirect_url: desk.redirectUrl(),
        problems,
      },
    }
  })
}
