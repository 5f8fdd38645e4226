import { generateKeyPairSync, hash, randomBytes } from 'node:crypto'
import { invalidField } from '../errors.ts'

/** An ssh key pair. The private half is in OpenSSH's format, the public half in the form `type base64`. */
export interface SshKey {
  privateKey: string
  publicKey: string
}

const magic = 'openssh-key-v1\0'
const maxLength = 16_384
const blockSize = 8
const type = 'ssh-ed25519'

/** Generates an Ed25519 key pair. */
export function generateSshKey(): SshKey {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const [secret, point] = [jwk.d, jwk.x].map((part) => Buffer.from(part as string, 'base64url')) as [Buffer, Buffer]
  const publicBlob = Buffer.concat([field(type), field(point)])
  // Repeated, so that the reader of an encrypted key notices a wrong passphrase. This one is not encrypted.
  const check = randomBytes(4)
  const body = Buffer.concat([
    check,
    check,
    field(type),
    field(point),
    field(Buffer.concat([secret, point])),
    field('promptledger'),
  ])
  const padding = Buffer.from([1, 2, 3, 4, 5, 6, 7].slice(0, (blockSize - (body.length % blockSize)) % blockSize))
  const blob = Buffer.concat([
    Buffer.from(magic),
    ...['none', 'none', ''].map(field),
    integer(1),
    field(publicBlob),
    field(Buffer.concat([body, padding])),
  ])
  const lines = blob.toString('base64').match(/.{1,70}/g) as string[]
  const privateKey = ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join(
    '\n',
  )
  return { privateKey, publicKey: `${type} ${publicBlob.toString('base64')}` }
}

const pem = /^-----BEGIN OPENSSH PRIVATE KEY-----\s+([A-Za-z0-9+/=\s]+)-----END OPENSSH PRIVATE KEY-----\s*$/

const keyType = /^(ssh|ecdsa|sk)-[\w@.-]{1,60}$/

/** Accepts a private key in OpenSSH's format without a passphrase, and reads the public half from it. */
export function validSshKey(text: string): SshKey {
  const [, encoded = ''] = (text.length <= maxLength && pem.exec(text)) || []
  const blob = Buffer.from(encoded, 'base64')
  const isOpenSsh = blob.subarray(0, magic.length).equals(Buffer.from(magic))
  const { fields: names, end } = readFields(blob, magic.length, 3)
  const [publicBlob = Buffer.alloc(0)] = readFields(blob, end + integerLength, 1).fields
  const name = keyTypeOf(publicBlob)
  if (!isOpenSsh || name === null) {
    throw invalidField('sshKey', "must be a private key in OpenSSH's format, as ssh-keygen -t ed25519 creates it")
  }
  if (names[0]?.toString('latin1') !== 'none') throw invalidField('sshKey', 'must not have a passphrase')
  return {
    // ssh rejects a key file with carriage returns or without a final line break.
    privateKey: `${text.replaceAll('\r', '').trim()}\n`,
    publicKey: `${name} ${publicBlob.toString('base64')}`,
  }
}

/** Accepts the key of a server as `type base64`, with or without a comment after it. */
export function validHostKey(text: string): string {
  const [name = '', key = ''] = text.length <= maxLength ? text.trim().split(' ') : []
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(key) || keyTypeOf(Buffer.from(key, 'base64')) !== name) {
    throw invalidField('sshHostKey', 'must be a public key such as ssh-ed25519 AAAAC3…, without the name of the host')
  }
  return `${name} ${key}`
}

/** The fingerprint that forges publish and `ssh` shows. */
export function sshFingerprint(publicKey: string): string {
  const [, encoded = ''] = publicKey.split(' ')
  return `SHA256:${hash('sha256', Buffer.from(encoded, 'base64'), 'base64').replace(/=+$/, '')}`
}

const integerLength = 4

function integer(value: number): Buffer {
  const bytes = Buffer.alloc(integerLength)
  bytes.writeUInt32BE(value)
  return bytes
}

/** Bytes with their length before them, as in every part of an ssh key. */
function field(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value as string)
  return Buffer.concat([integer(bytes.length), bytes])
}

/** Up to `count` fields from `offset` on, and where they end. */
function readFields(bytes: Buffer, offset: number, count: number): { fields: Buffer[]; end: number } {
  const fields: Buffer[] = []
  let end = offset
  while (fields.length < count && end + integerLength <= bytes.length) {
    const start = end + integerLength
    end = start + bytes.readUInt32BE(end)
    if (end > bytes.length) break
    fields.push(bytes.subarray(start, end))
  }
  return { fields, end }
}

/** The type that a public key starts with; null if it is not one. */
function keyTypeOf(publicBlob: Buffer): string | null {
  const name = readFields(publicBlob, 0, 1).fields[0]?.toString('latin1') ?? ''
  return keyType.test(name) ? name : null
}
