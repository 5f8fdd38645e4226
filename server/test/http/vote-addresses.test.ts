import { test } from 'node:test'
import { votesPerAddress } from '../../../contract/votes.ts'
import { assertError } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { TestService } from '../../../testing/service.ts'

onOneEngine('Votes behind proxies', (engine) => {
  const service = new TestService()
  service.trustedProxies = ['10.0.0.0/8', '::1']

  test('X-Forwarded-For counts as far as trusted proxies wrote it', async () => {
    await service.open(engine)
    const send = (remoteAddress: string, forwarded: string) =>
      service.app.inject({
        method: 'POST',
        url: '/api/v1/votes',
        remoteAddress,
        headers: { 'content-type': 'text/plain', 'x-forwarded-for': forwarded },
        payload: '{}',
      })
    // What the client wrote itself comes first, and does not help it.
    const counted = Array.from({ length: votesPerAddress }, (_, i) =>
      send('10.1.2.3', `198.51.100.${i % 255}, 203.0.113.7, 10.9.9.9`),
    )
    for (const response of await Promise.all(counted)) assertError(response, 401, 'unauthorized')
    const same = [
      '203.0.113.7',
      '::ffff:203.0.113.7',
      'x, 203.0.113.7,10.2.2.2 , 10.3.3.3',
      '203.0.113.7:49152',
      '[::ffff:203.0.113.7]:49152, 10.2.2.2:80',
    ]
    for (const forwarded of same) assertError(await send('10.1.2.3', forwarded), 429, 'rate_limited')
    assertError(await send('::ffff:10.1.2.3', '203.0.113.7'), 429, 'rate_limited')
    assertError(await send('::1', '203.0.113.7'), 429, 'rate_limited')
    assertError(await send('203.0.113.7', '198.51.100.1'), 429, 'rate_limited')
    for (const forwarded of [
      '203.0.113.8',
      '',
      'nonsense',
      'fe80::1%eth0',
      '203.0.113.7, fe80::1%eth0',
      '203.0.113.7, nonsense',
      '203.0.113.7, 203.0.113.9',
    ]) {
      assertError(await send('10.1.2.3', forwarded), 401, 'unauthorized')
    }
  })
})
