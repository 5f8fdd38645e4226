import assert from 'node:assert/strict'
import { test } from 'node:test'
import { webhookProblem } from '../src/repositories/webhook-reach.ts'

const github = 'https://github.com/acme/prompts.git'
const gitea = 'ssh://git@gitea.internal:2222/acme/prompts.git'
const problemOf = (url: string, address: string) =>
  webhookProblem(url === github ? 'GitHub' : 'Gitea', url, `${address}/webhooks/x`)

test('a forge on the internet cannot reach addresses of this machine or of a private network', () => {
  for (const host of ['127.0.0.1:3000', '127.8.0.1', 'localhost:3000', '[::1]:3000', '0.0.0.0', 'app.localhost']) {
    assert.match(problemOf(github, `http://${host}`) ?? '', /^GitHub cannot reach .* that machine itself\.$/, host)
  }
  const hosts = ['10.1.2.3', '192.168.0.7', '172.16.0.1', '172.31.9.9', '100.64.0.1', '169.254.1.1', '[fd00::1]']
  for (const host of [...hosts, '[fe80::1]', 'ledger', 'ledger.internal', 'nas.local', 'pi.home.arpa']) {
    assert.match(problemOf(github, `https://${host}`) ?? '', /^GitHub cannot reach .* private network\.$/, host)
  }
})

test('public addresses over https are fine, and plain http is not encrypted', () => {
  const hosts = ['ledger.example.com', '172.32.0.1', '11.0.0.1', '100.128.0.1', '[2606:4700::1]', 'local.example.com']
  for (const host of hosts) {
    assert.equal(problemOf(github, `https://${host}`), null, host)
    assert.match(problemOf(github, `http://${host}`) ?? '', /not encrypted/, host)
  }
})

test('a forge in the same network reaches private addresses, but not the loopback address of another machine', () => {
  assert.equal(problemOf(gitea, 'http://10.0.0.5:3000'), null)
  assert.equal(problemOf('git@10.0.0.9:acme/prompts.git', 'http://10.0.0.5:3000'), null)
  assert.match(problemOf(gitea, 'http://127.0.0.1:3000') ?? '', /^Gitea cannot reach 127\.0\.0\.1:3000/)
  assert.equal(problemOf('http://localhost:3001/acme/p.git', 'http://127.0.0.1:3000'), null)
})
