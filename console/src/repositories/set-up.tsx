import { OutsideLink } from '../ui/outside-link.tsx'

const opening = /^Open (https?:\/\/\S+)(.*)$/s

/** What to do on the forge's pages. */
export function SetUp({ steps }: { steps: string[] }) {
  return (
    <ol className="steps">
      {steps.map((step) => (
        <li key={step}>
          <Step text={step} />
        </li>
      ))}
    </ol>
  )
}

/** The page to open is a link; other addresses in it are there to be copied. */
function Step({ text }: { text: string }) {
  const [, page, rest] = opening.exec(text) ?? []
  if (page === undefined) return text
  return (
    <>
      Open <OutsideLink to={page}>{page}</OutsideLink>
      {rest}
    </>
  )
}
