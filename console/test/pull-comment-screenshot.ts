import { commentMarker, pullCommentText } from '../../server/src/alerts/pull-comment-text.ts'
import { regressionMessage, toldPrompt } from '../../testing/regression-message.ts'
import { renderMarkdown } from './support/markdown.ts'
import { takePictures } from './support/pictures.ts'

// Takes docs/images/alert-pull-request.png: a comment on a pull request, rendered from its Markdown as GitHub does.

const style = `
  body { margin: 0; padding: 24px; width: 868px; background: #fff; color: #1f2328;
    font: 14px/1.5 -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; }
  .comment { border: 1px solid #d1d9e0; border-radius: 6px; }
  .head { padding: 8px 16px; border-bottom: 1px solid #d1d9e0; background: #f6f8fa; border-radius: 6px 6px 0 0; color: #59636e; }
  .head strong { color: #1f2328; }
  .body { padding: 16px; }
  .body > :first-child { margin-top: 0; }
  .body > :last-child { margin-bottom: 0; }
  p, ul, table { margin: 0 0 16px; }
  ul { padding-left: 2em; }
  a { color: #0969da; }
  code { padding: .2em .4em; border-radius: 6px; background: #818b981f; font: 85% ui-monospace, "DejaVu Sans Mono", monospace; }
  table { border-collapse: collapse; }
  th, td { padding: 6px 13px; border: 1px solid #d1d9e0; }
`

const message = regressionMessage(
  { id: 7, organisationId: 1 },
  {
    prompts: [
      toldPrompt(),
      toldPrompt({
        name: 'prompts/shipping.md',
        before: { rate: 0.874, signals: 1_204 },
        after: { rate: 0.79, signals: 310 },
        interval: [-0.131, -0.037],
        explanation:
          '79% of 310 votes are positive after this change, 87% of 1,204 votes before it. A fall of this size at this moment is at least 20 times more likely with an effect of the change than without one.',
      }),
    ],
  },
)
const text = pullCommentText(
  message,
  'https://ledger.example.com',
  commentMarker({ hookId: 'Xk2mPa9Qw4Rt6Yu8Io1Zx3Cv' }, 'pull/7'),
  65_536,
)
const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Comment</title><style>${style}</style>
  <div class="comment"><div class="head"><strong>acme-bot</strong> commented on the pull request</div>
  <div class="body">${renderMarkdown(text)}</div></div></html>`

await takePictures({ 'alert-pull-request': { width: 916, html: page } })
