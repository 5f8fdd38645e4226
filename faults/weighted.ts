import fc, { type Arbitrary } from 'fast-check'

/** One of the arbitraries, chosen by weight. */
export function weighted<Value>(...choices: [weight: number, arbitrary: Arbitrary<Value>][]): Arbitrary<Value> {
  return fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))
}
