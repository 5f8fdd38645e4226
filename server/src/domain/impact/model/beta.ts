// From here on, the omitted terms of the series are below 1e-13.
const minSeriesArgument = 10
const halfLogTau = Math.log(2 * Math.PI) / 2

/** ln Γ(x) for x > 0, by Stirling's series. A small x is first raised with Γ(x) = Γ(x + 1) / x. */
export function logGamma(x: number): number {
  let product = 1
  let y = x
  while (y < minSeriesArgument) product *= y++
  const w = 1 / (y * y)
  const series = (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w / 1188)))) / y
  const stirling = (y - 0.5) * Math.log(y) - y + halfLogTau + series
  return product === 1 ? stirling : stirling - Math.log(product)
}

/** ln B(a, b), the marginal likelihood of one particular sequence of a and b outcomes over all rates. */
export function logBeta(a: number, b: number): number {
  return logGamma(a) + logGamma(b) - logGamma(a + b)
}
