import { useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'

export const deliverySettingsKey = ['delivery settings']

/** Only admins may read them. */
export function useDeliverySettings(isAdmin = true) {
  return useQuery({
    queryKey: deliverySettingsKey,
    enabled: isAdmin,
    queryFn: ({ signal }) => ledger.texts.settings({ signal }),
  })
}
