import type { DemoPrompt } from '../change.ts'
import { aisha, ines, jonas, priya, tomasz } from '../people.ts'

const complaints = [
  'had to read the whole ticket anyway',
  'missed what we promised',
  'too long',
  'mixed up two orders',
  'left out the last message',
]

/** Many changes that made no difference, until the last one did. */
export const summariseTicket: DemoPrompt = {
  path: 'prompts/summarise-ticket.md',
  signalsPerYear: 9_000,
  text: `# Summarise a ticket

Summarise the conversation between a customer and our support team for the colleague who takes over.

## Form

- One paragraph of five to eight sentences
- Past tense, third person
- No greeting and no closing

## Content

- What the customer wanted
- What was tried so far
- What was promised, and until when
- What is still open

## Rules

- Only use what is in the ticket.
- Leave out phone numbers, addresses and payment details.
- Write in English, whatever the language of the ticket.
`,
  changes: [
    {
      weeksAgo: 52,
      pushed: 'Mon 09:27',
      author: ines,
      title: 'Prompt for summaries of tickets',
      edits: [],
      rate: 0.78,
      complaints,
    },
    {
      weeksAgo: 49,
      opened: 'Mon 13:18',
      squashed: 'Tue 10:06',
      author: jonas,
      title: 'Shorter summaries',
      edits: [['five to eight sentences', 'four to six sentences']],
    },
    {
      weeksAgo: 45,
      opened: 'Tue 09:51',
      merged: 'Thu 11:29',
      author: aisha,
      title: 'Name the order that a ticket is about',
      edits: [['- What the customer wanted\n', '- Which order it is about\n- What the customer wanted\n']],
    },
    {
      weeksAgo: 42,
      pushed: 'Wed 16:05',
      author: ines,
      title: 'Call agents agents',
      edits: [['a customer and our support team', 'a customer and our agents']],
    },
    {
      weeksAgo: 38,
      opened: 'Mon 10:22',
      squashed: 'Mon 15:57',
      author: tomasz,
      title: 'Say who promised something',
      edits: [['- What was promised, and until when', '- What was promised, by whom, and until when']],
    },
    {
      weeksAgo: 34,
      opened: 'Wed 09:38',
      merged: 'Fri 13:44',
      author: priya,
      title: 'Leave names out',
      edits: [
        [
          '- Leave out phone numbers, addresses and payment details.',
          '- Leave out names, phone numbers, addresses and payment details.',
        ],
      ],
    },
    {
      weeksAgo: 31,
      opened: 'Tue 14:27',
      closed: 'Thu 09:09',
      author: tomasz,
      title: 'Rate the mood of the customer',
      edits: [['- What is still open\n', '- What is still open\n- The mood of the customer, from 1 to 5\n']],
    },
    {
      weeksAgo: 29,
      opened: 'Mon 11:13',
      squashed: 'Wed 10:52',
      author: aisha,
      title: 'Mention attachments',
      edits: [
        ['- What was tried so far\n', '- What was tried so far\n- Attachments that matter, such as photos of damage\n'],
      ],
    },
    {
      weeksAgo: 26,
      pushed: 'Tue 08:41',
      author: ines,
      title: 'Fewer words in the introduction',
      edits: [['Summarise the conversation between', 'Summarise what passed between']],
    },
    {
      weeksAgo: 22,
      opened: 'Wed 13:33',
      merged: 'Thu 16:20',
      author: jonas,
      title: 'Keep dates exact',
      edits: [
        ['- Only use what is in the ticket.', '- Only use what is in the ticket. Give dates as they stand there.'],
      ],
    },
    {
      weeksAgo: 19,
      opened: 'Tue 10:45',
      squashed: 'Wed 09:02',
      author: tomasz,
      title: 'Ignore signatures and quoted mails',
      edits: [['- Leave out names,', '- Ignore signatures and quoted e-mails.\n- Leave out names,']],
    },
    {
      weeksAgo: 16,
      opened: 'Mon 15:36',
      squashed: 'Thu 11:54',
      author: priya,
      title: 'Present tense for what is open',
      edits: [['- Past tense, third person', '- Past tense, present tense for what is still open; third person']],
    },
    {
      weeksAgo: 13,
      opened: 'Tue 09:19',
      merged: 'Wed 14:08',
      author: aisha,
      title: 'Say when a ticket was handed over before',
      edits: [['- What was tried so far\n', '- What was tried so far, and how often it was handed over\n']],
    },
    {
      weeksAgo: 9,
      opened: 'Mon 10:34',
      squashed: 'Tue 13:11',
      author: jonas,
      title: 'Write in the language of the team',
      edits: [
        [
          '- Write in English, whatever',
          '- Write in the language of the team, English where it is not given, whatever',
        ],
      ],
    },
    {
      weeksAgo: 5,
      opened: 'Mon 09:07',
      merged: 'Wed 10:25',
      author: priya,
      title: 'Begin with what is still open',
      why: 'Whoever takes over wants to know what to do next. It stood at the very end, after the story.',
      edits: [
        [
          '- One paragraph of four to six sentences',
          '- First a list of what is still open, then three sentences on how it came to that',
        ],
        ['- What is still open\n', ''],
        [
          '- Which order it is about\n',
          '- What is still open, who has to act and by when\n- Which order it is about\n',
        ],
      ],
      rate: 0.88,
      complaints: ['one open point was missing', 'too long', 'mixed up two orders'],
    },
  ],
}
