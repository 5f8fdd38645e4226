import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LineHistory } from '../../../testing/line-history.ts'
import { type Random, seededRandom } from '../../../testing/random.ts'

const own = 'github.com:acme/prompts'
const pulls = [
  `Merge branch 'main' of ${own}`,
  `Merge branch 'main' of ${own} into main`,
  "Merge branch 'main' of https://github.com/acme/prompts into feature",
  "Merge remote-tracking branch 'origin/main' into main",
  "Merge branch 'main' into feature",
]

interface PlayedHistory {
  history: LineHistory
  /** The commits that the default branch went through, oldest first. */
  line: number[]
  /** Its newest commit after each push. */
  tips: number[]
}

/** Plays a team: direct commits, pull requests of all kinds, forks, strangers, and developers who pull before they push. */
function play(random: Random, pushes: number): PlayedHistory {
  const history = new LineHistory({ url: 'https://github.com/acme/prompts.git' })
  const root = history.commit('Root')
  const line = [root]
  const tips = [root]
  let pullNumber = 0
  const pick = <T>(items: T[]): T => items[Math.floor(random() * items.length)] as T
  const older = () => line[Math.max(0, line.length - 1 - Math.floor(random() * 6))] as number
  const tip = () => line.at(-1) as number
  const commits = (base: number, text: string) =>
    history.commits(
      Array.from({ length: 1 + Math.floor(random() * 3) }, (_, i) => `${text} ${i}`),
      base,
    )
  const steps: (() => void)[] = [
    () => line.push(history.commit('Direct', tip())),
    () => line.push(history.mergedPull(++pullNumber, tip(), older())),
    () => {
      history.pull(++pullNumber, older())
      line.push(history.commit(`Squashed (#${pullNumber})`, tip()))
    },
    () => line.push(history.commit("Merge branch 'feature'", tip(), commits(older(), 'Feature'))),
    () => {
      const fork = commits(older(), 'Fork')
      line.push(history.commit("Merge branch 'main' of https://github.com/stranger/prompts", tip(), fork))
    },
    () => {
      const updated = history.commit(pick(pulls), commits(older(), 'Update'), tip())
      const decoy = history.commit(pick(pulls), history.commit('Stranger', updated), commits(older(), 'Decoy'))
      line.push(history.commit(`Merge pull request #${++pullNumber} from stranger/main`, tip(), decoy))
    },
    () => {
      const base = older()
      if (base === tip()) return
      let work = commits(base, 'Local')
      const between = older()
      if (between > work) work = history.commit(pick(pulls), work, between)
      line.push(history.commit(pick(pulls), work, tip()))
    },
  ]
  for (let i = 0; i < pushes; i++) {
    for (let n = 0; n <= random() * 3; n++) pick(steps)()
    tips.push(tip())
  }
  return { history, line, tips }
}

test('a backfill and any number of syncs on the way find the same line, which is the one that was pushed', async () => {
  for (let seed = 1; seed <= 4; seed++) {
    const random = seededRandom(seed)
    const { history, line, tips } = play(random, 12)
    const [last] = tips.slice(-1) as [number]
    assert.deepEqual(await history.write().follow(last), line, `backfill with seed ${seed}`)
    const followed = history.write()
    for (const tip of tips.filter(() => random() < 0.5)) await followed.follow(tip)
    assert.deepEqual(await followed.follow(last), line, `followed with seed ${seed}`)
  }
})
