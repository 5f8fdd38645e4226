import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OpenFeature } from '@openfeature/server-sdk'
import { onTestEnd } from '../../testing/cleanup.ts'
import { onOneEngine } from '../../testing/engines.ts'
import { createProvider } from '../src/openfeature.ts'
import { deliveringScenario, readyClient, startTrial } from './delivering-service.ts'
import { useLiveService } from './live-service.ts'

onOneEngine('The OpenFeature provider', (engine) => {
  const service = useLiveService(engine)

  test('a flag is a prompt, its variant the commit of the text, and thumbs are votes on it', async () => {
    const scenario = await deliveringScenario(service)
    const { id, head } = await startTrial(scenario, 1)
    const { ledger } = await readyClient(service, scenario)
    await OpenFeature.setProviderAndWait(createProvider(ledger))
    onTestEnd(() => OpenFeature.clearProviders())
    const client = OpenFeature.getClient()
    const context = { targetingKey: 'user-1' }
    const details = await client.getStringDetails('prompts/p.md', 'default', context)
    const { value, variant, reason, flagMetadata } = details
    assert.deepEqual([value, variant, reason], ['Be very kind.\n', head, 'SPLIT'])
    const prompt = await scenario.promptId('prompts/p.md')
    assert.deepEqual({ ...flagMetadata }, { prompt, trial: id, arm: 'candidate' })
    const live = await client.getStringDetails('prompts/p.md', 'default')
    assert.deepEqual([live.variant, live.reason], [scenario.git.head('main'), 'STATIC'])
    const unknown = await client.getStringDetails('unknown', 'default', context)
    assert.deepEqual([unknown.value, unknown.errorCode], ['default', 'FLAG_NOT_FOUND'])
    const wrong = await client.getBooleanDetails('prompts/p.md', true, context)
    assert.deepEqual([wrong.value, wrong.errorCode], [true, 'TYPE_MISMATCH'])

    client.track('thumbs', context, { value: 1, prompt: 'prompts/p.md', version: String(variant), model: 'small' })
    client.track('thumbs', context, { value: -1, prompt: 'prompts/p.md' })
    client.track('purchase', context, { value: 10 })
    await OpenFeature.close()
    const signals = await Array.fromAsync(ledger.signals.export('prompts/p.md'))
    assert.deepEqual(
      signals.map(({ value, version, metadata }) => [value, version, metadata]),
      [
        ['positive', head, { model: 'small' }],
        ['negative', null, null],
      ],
    )
    assert.equal((await ledger.signals.previewErasure({ voter: 'user-1' })).matching, 2)
  })
})
