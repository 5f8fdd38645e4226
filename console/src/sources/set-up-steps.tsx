import { type AdapterName, adapters } from './adapters.ts'

/** What to do on the side of the product. */
export function SetUpSteps({ adapter }: { adapter: AdapterName }) {
  return (
    <ol className="set-up-source" aria-label={`Set up ${adapters[adapter].label}`}>
      {adapters[adapter].steps.map((step) => (
        <li key={step}>{step}</li>
      ))}
    </ol>
  )
}
