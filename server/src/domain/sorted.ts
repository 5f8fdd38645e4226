/** How many items at the start of a sorted list come before all that do not. */
export function countWhile<Item>(items: readonly Item[], isBefore: (item: Item) => boolean): number {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(items[middle] as Item)) low = middle + 1
    else high = middle
  }
  return low
}

/** The place of the first number that is not below `least`. */
export function firstFrom(numbers: readonly number[], least: number): number {
  return countWhile(numbers, (number) => number < least)
}
