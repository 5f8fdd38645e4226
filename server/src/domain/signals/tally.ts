/** How many signals of each kind a window has. */
export interface Tally {
  positive: number
  negative: number
}
