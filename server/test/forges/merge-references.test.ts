import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ForgeName } from '../../../testing/payloads/facts.ts'
import { forgeNames } from '../../src/domain/repositories/repository.ts'
import { forgeOf } from '../../src/forges/index.ts'
import { isCherryPick, type MergeReference } from '../../src/forges/merge-reference.ts'
import { pageReferenceIn } from '../../src/forges/page-reference.ts'

function readReference(name: ForgeName, message: string, parents = 1): MergeReference | null {
  return forgeOf(name).mergeReference({ parents, subject: message.split('\n')[0] as string, message })
}

function referenceIn(name: ForgeName, message: string, parents = 1): number | null {
  return readReference(name, message, parents)?.number ?? null
}

describe('Merge references', () => {
  test('GitHub: a merge and a squash reference their pull request, and the last of several numbers counts', () => {
    assert.equal(referenceIn('github', 'Merge pull request #7 from eve/main\n\nBe kinder', 2), 7)
    assert.equal(referenceIn('github', 'Be kinder (#7)', 2), 7)
    assert.equal(referenceIn('github', 'Merge pull request #6 from acme/release-2 (#7)'), 7)
    assert.equal(referenceIn('github', 'Be kinder (#7)  \n\n* one (#3)'), 7)
    assert.equal(referenceIn('github', 'Revert "x (#10)" (#11)'), 11)
    assert.equal(referenceIn('github', 'Backport x (#10) (#2147483647)'), 2_147_483_647)
    assert.equal(referenceIn('github', 'Be kinder (GH-13)'), 13)
    assert.equal(referenceIn('github', 'Be kinder (#7) [ci skip]'), 7)
    assert.equal(referenceIn('github', 'Be kinder (#7) [skip ci] [no changelog] '), 7)
    assert.equal(referenceIn('github', 'Be kinder (#7) [closes #8]'), null)
    assert.equal(referenceIn('github', 'bpo-1: Be kinder (gh-13)'), 13)
  })

  test('a line of the last paragraph that is the URL of a pull request names it, with its repository', () => {
    const [repositoryUrl, url] = [
      'https://forge.example/acme/prompts',
      'https://forge.example/acme/prompts/-/merge_requests/7',
    ]
    for (const [message, isTrailer] of [
      [`Be kinder\n\nPart-of: <${url}>`, true],
      [`Be kinder\r\n\r\nPart-of: <${url}>\r\nSigned-off-by: Ada\r\n`, true],
      ['Be kinder\n\nPR-URL: https://forge.example/acme/prompts/pull/7\nReviewed-By: Ada', true],
      ['Be kinder\n\nText\n\nhttps://forge.example/acme/prompts/merge_requests/7\n', false],
    ] as const) {
      assert.deepEqual(pageReferenceIn(message), { number: 7, repositoryUrl, isTrailer }, message)
    }
    for (const message of [
      url,
      `Be kinder\n\nSee ${url}`,
      `Be kinder\n\n${url}#note_1`,
      `Be kinder\n\n${url}\n\nMore text`,
      'Be kinder\n\nhttps://forge.example/acme/prompts/-/issues/7',
    ]) {
      assert.equal(pageReferenceIn(message), null, message)
    }
    const startedAt = performance.now()
    assert.equal(pageReferenceIn(`t\n\n${'https://'.repeat(8_000)}\n${'<'.repeat(60_000)}`), null)
    assert.ok(performance.now() - startedAt < 200)
  })

  test('merges by bots and by hand name their pull request, the first of several', () => {
    for (const name of ['github', 'gitea'] as const) {
      for (const subject of [
        'Merge #7: Be kinder',
        'Merge #7',
        'Merge #7 #8',
        'Auto merge of #7 - bob:kinder, r=ada',
        'Rollup merge of #7 - bob:kinder, r=ada',
        'Merge PR #7: Be kinder',
        'Merge pull request #7 into main',
        'Merge pull request #7, be kinder',
        'auto merge of #7 : bob/kinder, r=ada',
      ]) {
        assert.deepEqual(readReference(name, subject, 2), { number: 7, isForgeText: false, repository: null }, subject)
        assert.equal(referenceIn(name, subject), 7, subject)
      }
    }
    assert.equal(referenceIn('github', 'Merge #seven', 2), null)
    assert.equal(referenceIn('github', 'Auto merge of 7', 2), null)
  })

  test('only the text that the forge itself writes for merges counts as such, with the repository that it names', () => {
    const own = (number: number, repository: string | null = null) => ({ number, isForgeText: true, repository })
    assert.deepEqual(readReference('github', 'Merge pull request #7 from eve/main', 2), own(7))
    assert.equal(readReference('github', 'Merge pull request #7 from eve/main')?.isForgeText, false)
    assert.equal(readReference('github', 'Be kinder (#7)')?.isForgeText, false)
    assert.deepEqual(
      readReference('gitlab', 'x\n\nSee merge request Acme/Lab/prompts!7', 2),
      own(7, 'acme/lab/prompts'),
    )
    assert.equal(readReference('gitlab', 'x\n\nSee merge request !7', 2)?.isForgeText, false)
    const reviewed = 'Reviewed-on: https://gitea.example:3000/Acme/prompts/pulls/8'
    assert.deepEqual(readReference('gitea', `Be kinder\n\n${reviewed}`), own(8, 'acme/prompts'))
    assert.deepEqual(readReference('bitbucket', 'Merged in kinder (pull request #7)'), own(7))
  })

  test('GitHub: a number in a quoted revert, in another position or in another format is no reference', () => {
    for (const message of [
      'Revert "x (#10)"',
      'Be kinder\n\nBe kinder (#7)',
      'Be kinder #7',
      'Be kinder (7)',
      'Be kinder (#)',
      'Be kinder (#0)',
      'Be kinder (#07)',
      'Be kinder (#-7)',
      'Be kinder (#7a)',
      'Be kinder (#٧)',
      'Be kinder (!7)',
      'Be kinder (#2147483648)',
      'Be kinder (#99999999999999999999)',
      '#7)',
      ')',
      '',
    ]) {
      assert.equal(referenceIn('github', message), null, message)
    }
    assert.equal(referenceIn('github', "Merge branch 'main' of github.com:acme/prompts", 2), null)
    assert.equal(referenceIn('github', 'Merge pull request #99999999999 from eve/main', 2), null)
  })

  test('Gitea and Forgejo: the trailer, the merge subject and the end of the subject are references', () => {
    for (const name of ['gitea', 'forgejo'] as const) {
      const trailer = 'Reviewed-on: https://gitea.example/acme/prompts/pulls/8'
      assert.equal(referenceIn(name, `Be kinder\n\n${trailer}\nReviewed-by: Ada <ada@acme.example>`), 8)
      assert.equal(referenceIn(name, `Be kinder (#3)\n\n${trailer.replace('8', '5')}\n\n${trailer}\r\n`), 8)
      assert.equal(referenceIn(name, "Merge pull request 'Be kinder' (#7) from feature into main", 2), 7)
      assert.equal(referenceIn(name, "Merge pull request 'a' (#1) from b into c' (!7) from feature into main", 2), 7)
      assert.equal(referenceIn(name, "Merge pull request 'Be kinder' (#7) from feature into main"), null)
      assert.equal(referenceIn(name, 'Be kinder (#7)'), 7)
      assert.equal(referenceIn(name, 'Be kinder (!7)'), 7)
      assert.equal(referenceIn(name, 'Be kinder\n\nReviewed-on: nowhere'), null)
      assert.equal(referenceIn(name, `Be kinder\n\n > ${trailer}`), null)
      assert.equal(referenceIn(name, 'Revert "x (#10)"'), null)
    }
  })

  test('GitLab: the last line of a merge is a reference', () => {
    const merged = "Merge branch 'feature' into 'main'\n\nBe kinder\n\nSee merge request "
    assert.equal(referenceIn('gitlab', `${merged}acme/lab/prompts!7`, 2), 7)
    assert.equal(referenceIn('gitlab', `${merged}!7\n`, 2), 7)
    assert.equal(referenceIn('gitlab', `${merged}acme/prompts!7 and more`, 2), null)
    assert.equal(referenceIn('gitlab', `${merged}acme prompts!7`, 2), null)
    assert.equal(referenceIn('gitlab', `${merged}acme/prompts#7`, 2), null)
    assert.equal(referenceIn('gitlab', 'Be kinder (#7)'), null)
    assert.equal(referenceIn('gitlab', 'Be kinder (!7)'), 7)
    assert.equal(referenceIn('gitlab', 'Revert "Be kinder"\n\nThis reverts merge request !7'), null)
  })

  test('Bitbucket: the subject of a merge is a reference', () => {
    assert.equal(referenceIn('bitbucket', 'Merged in feature/kinder (pull request #7)\n\nBe kinder', 2), 7)
    assert.equal(referenceIn('bitbucket', 'Merged in feature (pull request #7)'), 7)
    assert.equal(referenceIn('bitbucket', 'Merged in a feature (pull request #7)', 2), null)
    assert.equal(referenceIn('bitbucket', 'Merged in feature', 2), null)
    assert.equal(referenceIn('bitbucket', 'Be kinder (#7)'), null)
    assert.equal(referenceIn('bitbucket', 'Be kinder (pull request #7)'), 7)
  })

  test('a commit is a cherry-pick if its last paragraph says so, whatever the line breaks', () => {
    for (const lineBreak of ['\n', '\r\n']) {
      const isPicked = (...lines: string[]) => isCherryPick({ parents: 1, subject: '', message: lines.join(lineBreak) })
      assert.equal(isPicked('Kinder (#7)', '', 'Text', '(cherry picked from commit abc1234)', ''), true)
      assert.equal(isPicked('Kinder (#7)', '', '(cherry picked from commit abc1234)', '', '* Be kinder', ''), false)
    }
  })

  test("separators and lines of git's output in a message change nothing", () => {
    const hostile = 'a\u001e\u001f:100644 100644 1 2 M\u0000 (#7)\n:100644 (#9)\nSee merge request'
    assert.equal(referenceIn('github', hostile), 7)
    assert.equal(referenceIn('gitea', hostile), 7)
    assert.equal(referenceIn('gitlab', hostile), null)
    assert.equal(referenceIn('bitbucket', hostile), null)
  })

  test('a message of megabytes full of near matches is read in linear time', () => {
    const size = 5_000_000
    const hostile = [
      ' '.repeat(size),
      '('.repeat(size),
      '(#'.repeat(size / 2),
      `(#${'1'.repeat(size)})`,
      '(#1) '.repeat(size / 5),
      `Merge pull request '${"' (#1".repeat(size / 5)}`,
      `Merge pull request #${'1'.repeat(size)}`,
      `Merged in ${' (pull request #1'.repeat(size / 17)}`,
      `x${'\nReviewed-on: '.repeat(size / 14)}`,
      `x${'\nSee merge request a'.repeat(size / 20)}`,
      `x\nSee merge request ${'!1'.repeat(size / 2)} `,
      '\n'.repeat(size),
    ]
    const expected: Record<ForgeName, number> = { github: 1, gitlab: 1, gitea: 1, forgejo: 1, bitbucket: 0 }
    // In quadratic time this would run into the timeout of the test.
    for (const name of forgeNames) {
      const { mergeReference } = forgeOf(name)
      const references = hostile.map((message) => mergeReference({ parents: 2, subject: message, message }))
      assert.equal(references.filter((reference) => reference !== null).length, expected[name], name)
    }
  })
})
