// From here on the terms that the series leaves out are below 1e-13.
const large = 10
const halfLogTau = Math.log(2 * Math.PI) / 2

/** The logarithm of the gamma function, for x > 0: Stirling's series, reached from a small x by Γ(x) = Γ(x + 1) / x. */
export function logGamma(x: number): number {
  let product = 1
  let y = x
  while (y < large) product *= y++
  const w = 1 / (y * y)
  const series = (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w / 1188)))) / y
  const stirling = (y - 0.5) * Math.log(y) - y + halfLogTau + series
  return product === 1 ? stirling : stirling - Math.log(product)
}

/** The logarithm of the beta function: of how likely one particular row of a and b outcomes is, over all rates. */
export function logBeta(a: number, b: number): number {
  return logGamma(a) + logGamma(b) - logGamma(a + b)
}
