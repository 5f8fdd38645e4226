import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** Encrypts secrets at rest, so reading the database does not reveal them. */
export interface Vault {
  encrypt(text: string): string
  decrypt(sealed: string): string
}

const algorithm = 'aes-256-gcm'
const ivLength = 12
const tagLength = 16
const version = 'v1:'

/** Takes a key of 32 bytes. */
export function createVault(key: Buffer): Vault {
  return {
    encrypt(text) {
      const iv = randomBytes(ivLength)
      const cipher = createCipheriv(algorithm, key, iv)
      const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return version + sealed.toString('base64')
    },
    decrypt(sealed) {
      const bytes = Buffer.from(sealed.slice(version.length), 'base64')
      try {
        const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivLength), { authTagLength: tagLength })
        decipher.setAuthTag(bytes.subarray(-tagLength))
        return decipher.update(bytes.subarray(ivLength, -tagLength), undefined, 'utf8') + decipher.final('utf8')
      } catch {
        throw new Error(
          'Cannot decrypt a stored secret: PROMPTLEDGER_SECRET_KEY differs from the key it was encrypted with',
        )
      }
    },
  }
}
