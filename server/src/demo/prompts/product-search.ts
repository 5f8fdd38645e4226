import type { DemoPrompt } from '../change.ts'
import { aisha, ines, jonas, priya, tomasz } from '../people.ts'

const complaints = ['nothing that fits', 'far too expensive', 'showed things that are sold out', 'ignored the size']

/** So few signals that many a change cannot be judged. */
export const productSearch: DemoPrompt = {
  path: 'prompts/product-search.md',
  signalsPerYear: 1_800,
  text: `# Find products

Turn the question of a visitor into a search of our catalogue and explain the results.

## Steps

1. Find out what the visitor needs it for.
2. Choose the category that fits best.
3. Add filters only for what the visitor said.
4. Show up to ten products, the best match first.

## Answer

Return JSON with these fields:

- \`category\`: one of the categories below
- \`filters\`: a list of \`{ "name", "value" }\`
- \`sort\`: \`relevance\`, \`price\` or \`rating\`
- \`explanation\`: one sentence for the visitor

## Categories

tents, sleeping bags, backpacks, boots, jackets, cooking
`,
  changes: [
    {
      weeksAgo: 52,
      pushed: 'Tue 11:03',
      author: tomasz,
      title: 'Prompt for the product search',
      edits: [],
      rate: 0.78,
      complaints,
    },
    {
      weeksAgo: 48,
      opened: 'Mon 10:16',
      squashed: 'Tue 09:45',
      author: aisha,
      title: 'Show fewer products',
      edits: [['up to ten products', 'up to six products']],
    },
    {
      weeksAgo: 44,
      pushed: 'Wed 09:30',
      author: tomasz,
      title: 'Add climbing to the categories',
      edits: [['jackets, cooking', 'jackets, climbing, cooking']],
    },
    {
      weeksAgo: 39,
      opened: 'Tue 14:50',
      merged: 'Thu 10:37',
      author: jonas,
      title: 'Ask back where the purpose is unclear',
      edits: [
        [
          '1. Find out what the visitor needs it for.',
          '1. Find out what the visitor needs it for. If it is unclear, ask one question back.',
        ],
        [
          '- `explanation`: one sentence for the visitor\n',
          '- `explanation`: one sentence for the visitor\n- `question`: what to ask back, or null\n',
        ],
      ],
    },
    {
      weeksAgo: 36,
      opened: 'Mon 16:14',
      closed: 'Wed 11:41',
      author: tomasz,
      title: 'Sort by margin',
      edits: [['`price` or `rating`', '`price`, `rating` or `margin`']],
    },
    {
      weeksAgo: 30,
      opened: 'Wed 10:09',
      squashed: 'Thu 13:52',
      author: priya,
      title: 'Leave out what is sold out',
      edits: [['the best match first.', 'the best match first. Leave out what is sold out.']],
    },
    {
      weeksAgo: 20,
      opened: 'Mon 11:48',
      merged: 'Tue 15:23',
      author: aisha,
      title: 'Take sizes as filters',
      edits: [
        [
          '3. Add filters only for what the visitor said.',
          '3. Add filters only for what the visitor said: size, weight, price, colour.',
        ],
      ],
    },
    {
      weeksAgo: 16,
      opened: 'Tue 09:34',
      squashed: 'Wed 08:58',
      author: jonas,
      title: 'Explain the best match',
      edits: [['one sentence for the visitor', 'one sentence that says why the first product fits']],
    },
    {
      weeksAgo: 13,
      pushed: 'Thu 10:20',
      author: ines,
      title: 'Spell categories as the shop does',
      edits: [['sleeping bags, backpacks', 'sleeping-bags, backpacks']],
    },
    {
      weeksAgo: 10,
      opened: 'Mon 13:55',
      squashed: 'Mon 17:01',
      author: tomasz,
      title: 'Understand budgets',
      edits: [
        [
          '4. Show up to',
          '4. If the visitor names a budget, stay within it; show one product just above it at most.\n5. Show up to',
        ],
      ],
    },
    {
      weeksAgo: 8,
      opened: 'Tue 11:27',
      merged: 'Fri 09:16',
      author: priya,
      title: 'Never invent products',
      edits: [
        [
          'Leave out what is sold out.',
          'Leave out what is sold out. Never name a product that the search did not return.',
        ],
      ],
    },
    {
      weeksAgo: 6,
      opened: 'Wed 14:39',
      squashed: 'Thu 09:47',
      author: aisha,
      title: 'Prefer rating where nothing else is asked for',
      edits: [
        [
          '- `sort`: `relevance`, `price` or `rating`',
          '- `sort`: `rating` unless the visitor asks for `relevance` or `price`',
        ],
      ],
    },
    {
      weeksAgo: 4,
      opened: 'Mon 09:59',
      squashed: 'Tue 10:48',
      author: jonas,
      title: 'Answer in the language of the visitor',
      edits: [['one sentence that says why', "one sentence in the visitor's language that says why"]],
    },
    {
      weeksAgo: 2,
      opened: 'Tue 13:21',
      merged: 'Wed 11:35',
      author: aisha,
      title: 'Add water bottles and lamps',
      edits: [['climbing, cooking', 'climbing, cooking, bottles, lamps']],
    },
  ],
}
