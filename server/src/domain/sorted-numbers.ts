/** The place of the first number that is not below `least`. */
export function firstFrom(numbers: readonly number[], least: number): number {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((numbers[middle] as number) < least) low = middle + 1
    else high = middle
  }
  return low
}
