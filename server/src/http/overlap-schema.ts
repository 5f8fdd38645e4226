const hoursInYear = 8_760

export const defaultOverlapHours = 24

/** The body of a rotation, which may be left out: the default applies. */
export function overlapSchema(subject: 'key' | 'secret') {
  return {
    type: ['object', 'null'],
    properties: {
      overlap_hours: {
        type: 'integer',
        minimum: 0,
        maximum: hoursInYear,
        default: defaultOverlapHours,
        description: `Hours for which the old ${subject} stays valid. 0 if it has leaked`,
      },
    },
    examples: [{ overlap_hours: 48 }],
  } as const
}

export interface OverlapBody {
  overlap_hours?: number
}
