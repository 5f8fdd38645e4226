import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations } from '../../../contract/index.ts'
import { accessRoles, isAllowed, isWithin, roles } from '../../src/domain/access/api-key.ts'
import { keyRoles, ownKeyRoles, personRoles } from '../../src/domain/access/person.ts'

test('a key that a person may have for themselves allows no operation of the contract that the person may not call', () => {
  for (const person of personRoles) {
    const own = ownKeyRoles(person)
    for (const role of roles.filter((each) => each !== 'signing')) {
      const exceeding = operations.filter(
        (operation) => isAllowed(role, operation.roles) && !isAllowed(keyRoles[person], operation.roles),
      )
      assert.equal(own.includes(role), exceeding.length === 0, `${person} ${role}: ${exceeding.map(({ id }) => id)}`)
    }
    assert.equal(own.includes('signing'), person === 'admin')
  }
  assert.deepEqual(ownKeyRoles('viewer'), ['reader'])
})

test('a role is within itself, and within admin', () => {
  for (const role of accessRoles) {
    assert.ok(isWithin(role, 'admin'), role)
    if (role !== 'signing') assert.ok(isWithin(role, role), role)
  }
})
