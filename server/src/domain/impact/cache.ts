/** All values by the object that they were derived from, then by what derives them. */
const cache = new WeakMap<object, Map<unknown, unknown>>()

/**
 * What `derive` returned for this object the first time. The store returns the same lists until something changes, so that nothing has
 * to be invalidated: a value lives as long as its object. For an equal but different object, it is derived again.
 *
 * `derive` is declared once, because it is part of the key. It may return a container to be filled later.
 */
export function derivedFrom<Of extends object, Value>(of: Of, derive: (of: Of) => Value): Value {
  const values = cache.get(of) ?? new Map<unknown, unknown>()
  cache.set(of, values)
  if (!values.has(derive)) values.set(derive, derive(of))
  return values.get(derive) as Value
}
