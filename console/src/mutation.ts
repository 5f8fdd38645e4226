import { type UseMutationOptions, type UseMutationResult, useMutation as useQueryMutation } from '@tanstack/react-query'
import { useLayoutEffect, useRef } from 'react'

type Options<Data, Variables> = UseMutationOptions<Data, Error, Variables> & {
  mutationFn: (variables: Variables) => Promise<Data>
}

/**
 * A mutation that runs the function of the latest render. TanStack Query replaces its function in a passive effect, which may come
 * after the next event: Enter right after a paste would send what the form held before it.
 */
export function useMutation<Data, Variables = void>(
  options: Options<Data, Variables>,
): UseMutationResult<Data, Error, Variables> {
  const { mutationFn } = options
  const latest = useRef(mutationFn)
  useLayoutEffect(() => {
    latest.current = mutationFn
  })
  return useQueryMutation({ ...options, mutationFn: (variables) => latest.current(variables) })
}
