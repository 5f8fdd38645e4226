import Type, { type Static } from 'typebox'
import { signalValues } from '../../domain/signal.ts'

const value = Type.Enum(signalValues)
// An object's own members do not concern us: any are welcome, and a check of each would cost time.
const metadata = Type.Optional(
  Type.Union([Type.Object({}), Type.Null()], { description: "Arbitrary JSON object for the caller's own tracking" }),
)

export const NewSignalBody = Type.Object({ value, metadata })

export const ImportedSignalBody = Type.Object({ value, metadata, created_at: Type.String({ description: 'ISO 8601' }) })

export const SignalBody = Type.Object({
  data: Type.Object({ id: Type.Integer(), value, created_at: Type.String({ format: 'date-time' }) }),
})

export type NewSignalBody = Static<typeof NewSignalBody>
export type ImportedSignalBody = Static<typeof ImportedSignalBody>
