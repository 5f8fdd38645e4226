import { defineOperations } from './operation.ts'
import { object, one, timeOrNull } from './schema.ts'

const problemSchema = object(
  {
    setting: { type: 'string', description: 'The setting that is wrong, or `clock`' },
    message: { type: 'string', description: 'What is wrong with it' },
    at: { ...timeOrNull, description: 'When it kept a person from signing in; null if it was found just now' },
  },
  { title: 'SignInProblem' },
)

const checkSchema = object(
  {
    provider: { type: ['string', 'null'], description: 'The name of the provider; null without one' },
    email: { type: 'boolean', description: 'Whether people can sign in by email' },
    redirect_url: { type: 'string', description: 'What the provider must know as a redirect URL of the client' },
    problems: { type: 'array', items: problemSchema, description: 'What keeps people from signing in' },
  },
  { title: 'SignInCheck', description: 'How people sign in, and what keeps them from it' },
)

export const operations = defineOperations('People', {
  checkSignIn: {
    method: 'GET',
    path: '/api/v1/sign-in/check',
    client: 'people.checkSignIn',
    summary: 'Check how people sign in',
    description:
      'Asks the provider whether it knows this service, and names the setting that is wrong, if one is. Keys sign in whatever it says.',
    roles: ['admin'],
    response: {
      200: one(checkSchema, 'The result', {
        provider: 'Google',
        email: false,
        redirect_url: 'https://ledger.example.com/sign-in/callback',
        problems: [
          {
            setting: 'SIGN_IN_CLIENT_SECRET',
            message: 'The provider rejects SIGN_IN_CLIENT_SECRET for the client of SIGN_IN_CLIENT_ID (invalid_client)',
            at: '2026-11-15T12:00:00.000Z',
          },
        ],
      }),
    },
  },
})
