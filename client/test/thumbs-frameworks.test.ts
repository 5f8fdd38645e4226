import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { build } from 'rolldown'
import { inBrowser } from '../../console/test/support/browser.ts'
import { eventually } from '../../testing/eventually.ts'
import { bad, eventsOf, good, hourMs, pressed, status, useThumbsPages } from './support/thumbs-pages.ts'

const run = promisify(execFile)

inBrowser('Thumbs in React and Vue', (suite) => {
  const { client, createApplication, open, recorded } = useThumbsPages(suite, 'react', 'react-dom', 'vue')

  const frameworks = {
    React: `
      import { createElement, StrictMode, useState } from 'react'
      import { createRoot } from 'react-dom/client'
      import { Thumbs } from '@promptledger/client/react'
      function App(props) {
        const [token, show] = useState(props.token)
        window.show = show
        const onVote = (vote) => window.events.push(['vote', vote])
        const onError = (error) => window.events.push(['error', error])
        const labels = { positive: 'Good answer' }
        return createElement(Thumbs, { ...props, token, labels, comment: true, className: 'mine', onVote, onError })
      }
      start((main, props) => createRoot(main).render(createElement(StrictMode, null, createElement(App, props))))`,
    Vue: `
      import { createApp, h, ref } from 'vue'
      import { Thumbs } from '@promptledger/client/vue'
      start((main, props) => createApp({
        setup() {
          const token = ref(props.token)
          window.show = (other) => { token.value = other }
          const onVote = (vote) => window.events.push(['vote', vote])
          const onError = (error) => window.events.push(['error', error])
          const labels = { positive: 'Good answer' }
          return () => h(Thumbs, { ...props, token: token.value, labels, comment: true, class: 'mine', onVote, onError })
        },
      }).mount(main))`,
  }
  for (const [name, source] of Object.entries(frameworks)) {
    test(`the component for ${name} passes on attributes, and reports votes and errors`, async (t) => {
      const application = await createApplication()
      const page = await open(application, { script: await bundle(name, source) })
      assert.equal(await page.locator('promptledger-thumbs.mine').count(), 1)
      await good(page).click()
      await recorded(application, 'positive')
      await status(page, 'Thank you for your vote.')
      await page.getByLabel('What should we know?').waitFor()
      const other = await application.sign('answer-2')
      await page.evaluate((token) => window.show(token), other)
      await eventually(async () => assert.deepEqual(await pressed(page), ['false', 'false']))
      suite.service.now += 2 * hourMs
      t.after(() => {
        suite.service.now -= 2 * hourMs
      })
      await bad(page).click()
      await status(page, 'Your vote was not saved.')
      const [voted, failed, ...others] = await eventsOf(page)
      assert.deepEqual(voted, ['vote', { value: 'positive', comment: '' }])
      assert.deepEqual([failed?.[0], (failed?.[1] as { status?: number })?.status, others], ['error', 401, []])
    })
  }

  /** Renders the component in place of the element, with the same attributes. */
  async function bundle(name: string, source: string): Promise<string> {
    const input = join(client.project, `${name}.js`)
    const start = `function start(render) {
      const element = document.querySelector('promptledger-thumbs')
      const [token, endpoint] = ['token', 'endpoint'].map((name) => element.getAttribute(name))
      const main = document.querySelector('main')
      main.textContent = ''
      render(main, { token, endpoint })
    }`
    await writeFile(input, `${source}\n${start}`)
    const { output } = await build({
      input,
      write: false,
      logLevel: 'silent',
      transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    })
    return output[0].code
  }

  test('a server can render the components', async () => {
    const script = `
      import { createElement } from 'react'
      import { renderToString } from 'react-dom/server'
      import { createSSRApp, h } from 'vue'
      import { renderToString as renderVue } from 'vue/server-renderer'
      import { Thumbs } from '@promptledger/client/react'
      import { Thumbs as VueThumbs } from '@promptledger/client/vue'
      const props = { token: 'plt_"x', endpoint: 'https://ledger.example', comment: true }
      console.log(renderToString(createElement(Thumbs, props)))
      console.log(await renderVue(createSSRApp({ render: () => h(VueThumbs, props) })))`
    await writeFile(join(client.project, 'render.js'), script)
    const { stdout } = await run(process.execPath, ['render.js'], { cwd: client.project })
    const attributes = ['comment=""', 'endpoint="https://ledger.example"', 'token="plt_&quot;x"']
    for (const line of stdout.trim().split('\n')) {
      assert.match(line, /^<promptledger-thumbs [^<]+><\/promptledger-thumbs>$/)
      for (const attribute of attributes) assert.ok(line.replace('comment>', 'comment="">').includes(attribute), line)
    }
  })
})
