import type { DemoPrompt } from '../change.ts'
import { aisha, ines, jonas, priya, tomasz } from '../people.ts'

const complaints = [
  'too long',
  'sounds like a robot',
  'I had to read it twice to find the answer',
  'my question was a different one',
  'so many apologies',
]

const laterComplaints = [
  'too long',
  'did not know about my second order',
  'link did not work',
  'my question was a different one',
]

/** One change helped, one hurt and was put right. */
export const supportReply: DemoPrompt = {
  path: 'prompts/support-reply.md',
  signalsPerYear: 24_000,
  text: `# Reply to a customer

You answer e-mails for Acme, an online shop for outdoor gear. You write as a member of the support team.

## What you get

- The customer's message, in their own words
- The customer's orders, newest first
- Articles from our help centre

## How to answer

- Begin by thanking the customer for getting in touch and say sorry for the trouble.
- Explain how our process works in a case like this.
- Then answer the question.
- Be friendly and professional.
- Write in the language of the customer.
- Make no promises about delivery dates.
- If you are not sure, say that a colleague will get back to them.

## What to leave out

- Internal names of systems and teams
- Prices that are not in the help centre

End with "Kind regards, the Acme team".
`,
  changes: [
    {
      weeksAgo: 52,
      pushed: 'Mon 09:12',
      author: ines,
      title: 'Prompt for replies to customers',
      edits: [],
      rate: 0.74,
      complaints,
    },
    {
      weeksAgo: 50,
      pushed: 'Tue 10:31',
      author: ines,
      title: 'Say which articles may be used',
      edits: [
        [
          '- Articles from our help centre\n',
          '- Articles from our help centre that may fit; some do not, leave those aside\n',
        ],
      ],
    },
    {
      weeksAgo: 47,
      opened: 'Tue 13:05',
      squashed: 'Wed 09:40',
      author: tomasz,
      title: 'Mention the returns portal',
      edits: [
        [
          '- Make no promises',
          '- For returns, point to the returns portal: customers recieve the label there at once.\n- Make no promises',
        ],
      ],
    },
    {
      weeksAgo: 44,
      opened: 'Mon 11:20',
      merged: 'Thu 15:02',
      author: aisha,
      title: 'Use the first name of the customer',
      edits: [
        [
          'Begin by thanking the customer for getting in touch',
          'Greet the customer by first name, thank them for getting in touch',
        ],
      ],
    },
    {
      weeksAgo: 41,
      opened: 'Wed 14:44',
      closed: 'Fri 10:15',
      author: jonas,
      title: 'Add an emoji to the greeting',
      edits: [
        ['- Be friendly and professional.', '- Be friendly and professional. One emoji in the greeting is fine.'],
      ],
    },
    {
      weeksAgo: 40,
      opened: 'Mon 09:50',
      squashed: 'Mon 16:32',
      author: tomasz,
      title: 'Name the delivery window of the carrier',
      edits: [
        [
          '- Make no promises about delivery dates.',
          '- If the carrier gave a delivery window, name it. Make no other promises about delivery dates.',
        ],
      ],
    },
    {
      weeksAgo: 37,
      pushed: 'Thu 08:55',
      author: ines,
      title: 'Fix a typo',
      edits: [['recieve', 'receive']],
    },
    {
      weeksAgo: 33,
      opened: 'Mon 10:08',
      merged: 'Tue 13:26',
      author: priya,
      title: 'Answer the question first',
      why: 'Customers read the first two lines. These were thanks and apologies, whatever they had asked.',
      edits: [
        [
          '- Greet the customer by first name, thank them for getting in touch and say sorry for the trouble.\n' +
            '- Explain how our process works in a case like this.\n- Then answer the question.\n',
          '- Greet the customer by first name, then answer the question in the first sentence.\n' +
            '- After that, explain only what the customer needs for the next step.\n' +
            '- Say sorry once, and only where we made a mistake.\n',
        ],
        ['- Be friendly and professional.', '- Be friendly and plain.'],
      ],
      rate: 0.86,
      complaints: laterComplaints,
    },
    {
      weeksAgo: 30,
      opened: 'Tue 09:15',
      squashed: 'Tue 15:48',
      author: aisha,
      title: 'Ask for the order number only where it is missing',
      edits: [
        [
          '- If you are not sure,',
          '- Ask for the order number only where the question needs it and no order fits.\n- If you are not sure,',
        ],
      ],
    },
    {
      weeksAgo: 27,
      opened: 'Wed 11:36',
      merged: 'Thu 09:21',
      author: jonas,
      title: 'Explain refunds in plain words',
      edits: [
        [
          '- Ask for the order number',
          '- For refunds, say how much, to which account and by when.\n- Ask for the order number',
        ],
      ],
    },
    {
      weeksAgo: 24,
      opened: 'Mon 14:02',
      squashed: 'Wed 10:10',
      author: tomasz,
      title: 'Link at most two articles',
      edits: [['some do not, leave those aside', 'link at most two of them']],
    },
    {
      weeksAgo: 21,
      pushed: 'Fri 09:33',
      author: ines,
      title: 'Pass on the tracking link',
      edits: [
        [
          'If the carrier gave a delivery window, name it.',
          'If the carrier gave a delivery window or a tracking link, pass it on.',
        ],
      ],
    },
    {
      weeksAgo: 18,
      opened: 'Tue 10:57',
      squashed: 'Thu 14:19',
      author: priya,
      title: 'Hand over to a person when asked to',
      edits: [
        [
          '- If you are not sure, say that a colleague will get back to them.',
          '- If you are not sure, or the customer asks for a person, say that a colleague will get back to them within a day.',
        ],
      ],
    },
    {
      weeksAgo: 15,
      opened: 'Wed 09:04',
      merged: 'Wed 16:41',
      author: aisha,
      title: 'A warmer closing line',
      edits: [['End with "Kind regards, the Acme team".', 'End with "Enjoy your time outdoors, the Acme team".']],
    },
    {
      weeksAgo: 12,
      opened: 'Mon 13:47',
      squashed: 'Tue 11:08',
      author: jonas,
      title: 'Keep replies to three sentences',
      why: 'Half of the replies are longer than what the customer wrote. Shorter ones are quicker to read and cost less.',
      edits: [
        [
          '- After that, explain only what the customer needs for the next step.\n',
          '- Write three sentences at most. Leave out explanations.\n',
        ],
        ['link at most two of them', 'link one instead of explaining'],
      ],
      rate: 0.71,
      complaints: [
        'only half of my question was answered',
        'too short, what do I have to do now?',
        'just a link',
        'this sounded annoyed',
        'no explanation at all',
      ],
    },
    {
      weeksAgo: 10,
      opened: 'Tue 08:52',
      merged: 'Tue 10:17',
      author: priya,
      title: 'Revert "Keep replies to three sentences"',
      why: 'The share of positive signals fell by more than ten points, and the comments say why: replies lack the next step.',
      edits: [
        [
          '- Write three sentences at most. Leave out explanations.\n',
          '- After that, explain only what the customer needs for the next step.\n',
        ],
        ['link one instead of explaining', 'link at most two of them'],
      ],
      rate: 0.86,
      complaints: laterComplaints,
    },
    {
      weeksAgo: 8,
      opened: 'Thu 15:30',
      closed: 'Fri 14:12',
      author: tomasz,
      title: 'Leave the greeting out',
      edits: [
        [
          '- Greet the customer by first name, then answer the question in the first sentence.',
          '- Answer the question in the first sentence, without a greeting.',
        ],
      ],
    },
    {
      weeksAgo: 7,
      opened: 'Mon 10:40',
      squashed: 'Tue 09:58',
      author: aisha,
      title: 'Number the steps of instructions',
      edits: [['- Say sorry once,', '- Number the steps where there are more than two.\n- Say sorry once,']],
    },
    {
      weeksAgo: 5,
      pushed: 'Wed 08:47',
      author: ines,
      title: 'Name products as the customer does',
      edits: [
        [
          '- Internal names of systems and teams',
          '- Internal names of systems and teams, and article numbers: name products as the customer does',
        ],
      ],
    },
    {
      weeksAgo: 3,
      opened: 'Mon 09:26',
      merged: 'Tue 14:33',
      author: jonas,
      title: 'Offer a repair before a replacement',
      edits: [
        ['- For refunds, say', '- Where something broke, offer a repair before a replacement.\n- For refunds, say'],
      ],
    },
    {
      weeksAgo: 1,
      opened: 'Wed 15:19',
      author: aisha,
      title: 'Offer a call back for repairs',
      edits: [
        [
          'offer a repair before a replacement.',
          'offer a repair before a replacement, and a call back to talk it over.',
        ],
      ],
    },
  ],
}
