const [width, height] = [96, 12]

/** A share between 0 and 1 as a dot, and its 95% confidence range as a bar. The text beside it says the same. */
export function RangeBar({ low, high, share }: { low: number; high: number; share: number }) {
  const x = (value: number) => 4 + value * (width - 8)
  return (
    <svg className="range-bar" width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <line className="range-bar-axis" x1={x(0)} x2={x(1)} y1={height / 2} y2={height / 2} />
      <line className="range-bar-range" x1={x(low)} x2={x(high)} y1={height / 2} y2={height / 2} />
      <circle cx={x(share)} cy={height / 2} r={3.5} />
    </svg>
  )
}
