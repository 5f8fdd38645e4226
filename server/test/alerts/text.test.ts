import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { messages, openedMessage, toldPrompt } from '../../../testing/alert-messages.ts'
import { line } from '../../src/alerts/line.ts'
import { contentOf, figuresOf } from '../../src/alerts/text.ts'
import { publicUrl } from './channel-context.ts'

describe('The words of a message', () => {
  test('the title of every event names what it is about', () => {
    const titles = Object.fromEntries(
      Object.entries(messages).map(([event, message]) => [event, contentOf(message, publicUrl).title]),
    )
    assert.deepEqual(titles, {
      'regression.opened': '“support/refund-reply” got worse with pull request #42',
      'regression.repaired': 'Repaired: pull request #42, which made “support/refund-reply” worse, is reverted',
      'regression.withdrawn':
        'Taken back: the votes no longer show that pull request #42 made “support/refund-reply” worse',
      'regression.dismissed': 'Dismissed: “support/refund-reply” got worse with pull request #42',
      'shift.unexplained': '12 prompts got worse without a change of their own',
      'limit.near': 'Acme has used 80% of its signals for November 2026',
      'limit.reached': 'Acme has reached its limit of signals for November 2026',
      'repository.failing': 'https://github.com/acme/prompts.git does not sync',
      'repository.recovered': 'https://github.com/acme/prompts.git syncs again',
      'trial.started': 'A trial of pull request #42 on “support/refund-reply” has started',
      'trial.better': 'In a trial, pull request #42 makes “support/refund-reply” better',
      'trial.worse': 'In a trial, pull request #42 made “support/refund-reply” worse',
      'trial.stopped': 'The trial of pull request #42 on “support/refund-reply” has ended',
      'trial.mismatch': 'The trial of pull request #42 on “support/refund-reply” cannot be judged',
      'digest.weekly': 'Acme last week: 1 change helped, 1 hurt, 2 undecided',
      'alert.test': 'Test message from Promptledger',
    })
  })

  test('one pull request that made several prompts worse is one message, with the largest loss first', () => {
    const second = { ...toldPrompt, prompt: { publicId: 'pmt_2', name: 'faq' }, regressionId: 8 }
    const { title, summary, prompts } = contentOf({ ...openedMessage, prompts: [toldPrompt, second] }, publicUrl)
    assert.equal(title, '2 prompts got worse with pull request #42')
    assert.match(summary, /^The largest loss: “support\/refund-reply”, 85% → 60%/)
    const dismissals = prompts.map(({ name, links }) => [name, links.at(-1)?.url])
    assert.deepEqual(dismissals, [
      ['support/refund-reply', `${publicUrl}/prompts/${toldPrompt.prompt.publicId}/regressions/7`],
      ['faq', `${publicUrl}/prompts/pmt_2/regressions/8`],
    ])
  })

  test('a repair is about the prompts that are repaired, and says how the others are', () => {
    const faq = {
      ...toldPrompt,
      prompt: { publicId: 'pmt_2', name: 'faq' },
      state: 'repaired',
      repairedBy: 'rate',
    } as const
    const message = { ...openedMessage, event: 'regression.repaired', prompts: [toldPrompt, faq] } as const
    const { title, prompts } = contentOf({ ...message, prompts: [...message.prompts] }, publicUrl)
    assert.equal(title, 'Repaired: “faq” is as good as before pull request #42')
    assert.deepEqual(
      prompts.map(({ name, figures }) => [name, figures.endsWith(', open')]),
      [
        ['faq', false],
        ['support/refund-reply', true],
      ],
    )
  })

  test('a change without a pull request is named by its commit', () => {
    const change = { ...openedMessage.change, prNumber: null, prUrl: null }
    const { title, facts, links } = contentOf({ ...openedMessage, change }, publicUrl)
    assert.equal(title, '“support/refund-reply” got worse with commit 8f3a1c5')
    assert.equal(facts[0]?.text, 'commit 8f3a1c5 Shorten the refund reply')
    assert.deepEqual(
      links.map(({ label }) => label),
      ['See the change', 'Undo', 'Dismiss'],
    )
  })

  test('rates come with numbers of signals and the interval', () => {
    const figures = (low: number, high: number) => figuresOf({ ...toldPrompt, interval: [low, high] })
    assert.equal(figures(-0.29, -0.21), '85% → 60% (1,204 and 310 signals; between 21 and 29 points lower)')
    assert.match(figures(-0.29, -0.001), /between 0 and 29 points lower\)$/)
    assert.match(figures(-0.06, 0.02), /between 6 points lower and 2 higher\)$/)
    assert.match(figures(0.01, 0.02), /between 1 and 2 points higher\)$/)
  })

  test('ten prompts are listed and the others counted', () => {
    const prompts = Array.from({ length: 13 }, () => toldPrompt)
    const content = contentOf({ ...openedMessage, prompts }, publicUrl)
    assert.deepEqual([content.prompts.length, content.morePrompts], [10, 3])
    assert.equal(contentOf(messages['shift.unexplained'], publicUrl).morePrompts, 11)
  })
})

describe('Untrusted text', () => {
  test('untrusted text becomes one printable line of limited length', () => {
    assert.equal(line(' a\r\n\tb\u2028c\u2029d\u0085e ', 80), 'a b c d⟦U+0085⟧e')
    assert.equal(line('\u202Egnp.exe', 80), '⟦U+202E RLO⟧gnp.exe')
    assert.equal(line('x'.repeat(10), 5), 'xxxx…')
    assert.equal(line('🙂'.repeat(10), 6), '🙂🙂…')
    assert.equal(line('\ud800x', 80), '\ufffdx')
    assert.ok(line('\u200b'.repeat(1_000_000), 80).length <= 80)
  })
})
