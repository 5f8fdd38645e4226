import fc from 'fast-check'

/** JSON values, each in several spellings: texts in one row are equal, texts in different rows are not. */
export const values = [
  ['"u-1"', '"\\u0075-1"', '"u\\u002D1"'],
  ['"U-1"', '"\\u0055-1"'],
  ['"a\\"b%_!"', '"a\\u0022b%_!"'],
  ['"a!b!c"', '"\\u0061!b!c"'],
  ['"\\\\"', '"\\u005c"'],
  ['"/"', '"\\/"'],
  ['"ü"', '"\\u00fc"', '"\\u00FC"'],
  ['"u\u0308"'],
  ['"\\u0000"'],
  ['"\\ud800"', '"\\uD800"'],
  ['"1"'],
  ['""'],
  ['1', '1.0', '10e-1', '1E0', '0.1e+1'],
  ['-1', '-10E-1'],
  ['12345678901234567890', '1234567890123456789e1', '12345678901234567890.0'],
  ['12345678901234567891'],
  ['0', '-0', '0.00', '0e7', '-0E-7'],
  ['1e400', '10e399', '0.1e401'],
  ['1e401'],
  ['true', ' true '],
  ['false'],
  ['null'],
  ['{}', '{ }'],
  ['[]', '[\n]'],
  ['[1]', '[1.0]'],
  ['[[1]]'],
  ['{"a":1,"b":[1,"x"]}', '{ "b": [1.0, "\\u0078"], "a": 1 }', '{"a":2,"b":[1,"x"],"a":1}'],
  ['{"a":1,"b":["x",1]}'],
  ['{"__proto__":1}'],
]

const names = [['"user"', '"\\u0075ser"'], ['"User"'], ['"__proto__"'], ['"toString"'], ['"%_!\\""', '"%_!\\u0022"']]

export interface Member {
  name: number
  value: number
  text: string
}

export const member: fc.Arbitrary<Member> = fc
  .tuple(fc.nat(names.length - 1), fc.nat(), fc.nat(values.length - 1), fc.nat(), fc.constantFrom('', ' ', '\n'))
  .map(([name, nameText, value, valueText, space]) => {
    const [nameTexts, valueTexts] = [names[name] as string[], values[value] as string[]]
    const text = `${nameTexts[nameText % nameTexts.length]}${space}:${space}${valueTexts[valueText % valueTexts.length]}`
    return { name, value, text }
  })

export const textOf = (members: Member[]) => `{${members.map(({ text }) => text).join(',')}}`

/** The model of a metadata query. Of a name repeated in the query, the last counts; of a name stored twice, both count. */
export const matches = (members: Member[] | null, query: Member[]) =>
  members !== null &&
  [...new Map(query.map(({ name, value }) => [name, value]))].every(([name, value]) =>
    members.some((member) => member.name === name && member.value === value),
  )

/** The text of an object with this many members. */
export const objectOf = (count: number) => `{${Array.from({ length: count }, (_, i) => `"${i}":"x"`).join(',')}}`
