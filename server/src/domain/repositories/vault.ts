import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** Keeps secrets so that whoever reads the database cannot read them. */
export interface Vault {
  seal(text: string): string
  open(sealed: string): string
}

const algorithm = 'aes-256-gcm'
const ivLength = 12
const tagLength = 16
const version = 'v1:'

/** `key` is 32 bytes. */
export function newVault(key: Buffer): Vault {
  return {
    seal(text) {
      const iv = randomBytes(ivLength)
      const cipher = createCipheriv(algorithm, key, iv)
      const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return version + sealed.toString('base64')
    },
    open(sealed) {
      const bytes = Buffer.from(sealed.slice(version.length), 'base64')
      try {
        const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivLength), { authTagLength: tagLength })
        decipher.setAuthTag(bytes.subarray(-tagLength))
        return decipher.update(bytes.subarray(ivLength, -tagLength), undefined, 'utf8') + decipher.final('utf8')
      } catch {
        throw new Error('A stored secret cannot be read: PROMPTLEDGER_SECRET_KEY is not the one it was stored with')
      }
    },
  }
}
