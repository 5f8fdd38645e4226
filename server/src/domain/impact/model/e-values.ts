/**
 * Which segments to report so that at most a share `rate` of them is wrong on average: the e-BH procedure of Wang and Ramdas. Each
 * Bayes factor is an e-value, and dependence between segments does not matter. If no segment changed, any report means that the
 * mean of the factors exceeds 1 / rate, which by Ville's inequality happens with a probability of at most `rate`, however often
 * the segments are checked.
 */
export function discoveries(logFactors: readonly number[], rate = 0.05): boolean[] {
  const order = [...logFactors.keys()].sort((a, b) => (logFactors[b] as number) - (logFactors[a] as number))
  let found = 0
  for (const [i, segment] of order.entries()) {
    if ((logFactors[segment] as number) >= Math.log(logFactors.length / (rate * (i + 1)))) found = i + 1
  }
  const reported = new Set(order.slice(0, found))
  return logFactors.map((_, segment) => reported.has(segment))
}
