import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { createStrangerBodies, type StrangerBody } from '../../src/http/admission/stranger-bodies.ts'
import { createClientAddresses } from '../../src/http/client-address.ts'
import { overloaded } from '../../src/http/errors.ts'

const limits = {
  all: { bodies: 6, bytes: 100 },
  perTarget: { bodies: 3, bytes: 50 },
  perNetwork: { bodies: 2, bytes: 90 },
  perWiderNetwork: { bodies: 4, bytes: 95 },
}

describe('The bodies of strangers', () => {
  function start() {
    let rejections = 0
    let count = 0
    const bodies = createStrangerBodies(limits, () => {
      rejections++
    })
    /** From a network of its own, unless one is given. */
    const add = (target: string, network = `${count++}`, wider = network) => {
      const body: StrangerBody & { error: Error | null } = {
        origin: { target, bodyLimit: 10, networks: [network, wider] },
        bytes: 0,
        startedAt: performance.now(),
        groups: [],
        error: null,
        abort: (error) => {
          body.error = error
          body.abort = null
        },
      }
      bodies.add(body)
      return body
    }
    return { bodies, add, rejections: () => rejections }
  }

  const rejectedOf = (bodies: { error: Error | null }[]) => bodies.map(({ error }) => error === overloaded)

  test('beyond the bytes of a target, its largest body is rejected', () => {
    const { bodies, add, rejections } = start()
    const [large, small] = [add('a'), add('a')]
    bodies.receive(large, 50)
    bodies.receive(small, 10)
    assert.equal(rejections(), 0)
    bodies.receive(small, 1)
    assert.deepEqual([rejectedOf([large, small]), rejections()], [[true, false], 1])
  })

  test('beyond the bytes of all, the largest body of any target is rejected', () => {
    const { bodies, add } = start()
    const all = [add('a'), add('b'), add('c')] as const
    bodies.receive(all[0], 45)
    bodies.receive(all[1], 50)
    bodies.receive(all[2], 6)
    assert.deepEqual(rejectedOf([...all]), [false, true, false])
  })

  test('beyond the places of a target, a network or the network around it, its slowest body is rejected', (t) => {
    const now = t.mock.method(performance, 'now', () => 0).mock
    for (const origins of [
      [['a'], ['a'], ['a']],
      [
        ['a', '1'],
        ['b', '1'],
      ],
      [
        ['a', '1', 'x'],
        ['b', '2', 'x'],
        ['c', '3', 'x'],
        ['d', '4', 'x'],
      ],
    ] as [string, string?, string?][][]) {
      const { bodies, add } = start()
      const other = add('other')
      const full = origins.map((origin) => add(...origin))
      now.mockImplementation(() => 2_000)
      bodies.receive(full[0] as StrangerBody, 1)
      const next = add(...(origins[0] as [string]))
      // Something of the oldest has arrived, and the newest has just started.
      assert.deepEqual(rejectedOf([other, ...full, next]), [
        false,
        false,
        true,
        ...full.slice(2).map(() => false),
        false,
      ])
    }
  })

  test('beyond the places of all, the slowest body of any target and network is rejected', (t) => {
    const now = t.mock.method(performance, 'now', () => 0).mock
    const { bodies, add } = start()
    const full = Array.from({ length: limits.all.bodies }, (_, i) => add(`${i}`))
    now.mockImplementation(() => 1_000)
    for (const [i, body] of full.entries()) bodies.receive(body, i === 4 ? 0 : 1)
    assert.deepEqual(rejectedOf([...full, add('next')]), [false, false, false, false, true, false, false])
  })

  test('a body counts until it is removed, and cannot be rejected once it has arrived', () => {
    const { bodies, add } = start()
    const arrived = add('a')
    bodies.receive(arrived, 60)
    arrived.abort = null
    const next = add('a')
    bodies.receive(next, 1)
    assert.deepEqual(rejectedOf([arrived, next]), [false, true])
    bodies.remove(arrived)
    bodies.remove(arrived)
    const last = add('a')
    bodies.receive(last, 60)
    assert.equal(last.error, null)
  })

  test('a client is in its network and in the one that a provider gives to a customer', () => {
    const { networksOf } = createClientAddresses([])
    const of = (ip: string) => networksOf({ ip } as FastifyRequest)
    assert.deepEqual(of('203.0.113.7'), ['203.0.113.7', '203.0.113'])
    assert.deepEqual(of('2001:db8:1:2:3::4'), ['2001:db8:1:2::/64', '2001:db8:1'])
    assert.deepEqual(of('::1'), ['0:0:0:0::/64', '0:0:0'])
  })
})
