// Bytes that break or burden HTTP and JSON parsers.

export const malformedLines = [
  'nonsense\r\n\r\n',
  'GET\r\n\r\n',
  'get /healthz HTTP/1.1\r\n\r\n',
  ' GET /healthz HTTP/1.1\r\n\r\n',
  'GET /healthz HTTP/9.9\r\n\r\n',
  'GET /healthz HTTP/1.1 x\r\n\r\n',
  'GET /healthz HTTP/\r\n\r\n',
  'GET /healthz XTTP/1.1\r\n\r\n',
  'GET healthz HTTP/1.1\r\n\r\n',
  'GET /a b HTTP/1.1\r\n\r\n',
  'NOSUCH /healthz HTTP/1.1\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'HTTP/1.1 200 OK\r\n\r\n',
  'GET /healthz HTTP/1.1\r\nHost: x',
  'GET /healthz HT',
  Buffer.from([0x16, 0x03, 0x01, 0x00, 0xa5, 0x01, 0x00, 0x00]),
]

export const malformedHeaders = [
  ...['bad header', 'X : y', ': y', 'X\0: y', 'X: a\0b', 'X: a\rb', 'X: a\nY: b', 'X: a\r\n folded', 'X\xff: y'],
  ...['X: \x01', 'X(: y', 'Content-Length: five', 'Content-Length: -1', 'Content-Length: 1e1'],
  ...['Content-Length: 99999999999999999999', 'Transfer-Encoding: none', 'Connection: \x7f'],
]

export const badChunks = [
  'zz\r\n',
  '-1\r\nx\r\n0\r\n\r\n',
  '0x5\r\nhello\r\n0\r\n\r\n',
  'ffffffffffffffffff\r\nx',
  '5\r\nhel',
  '5\r\nhelloworld\r\n0\r\n\r\n',
  '5 5\r\nhello\r\n0\r\n\r\n',
  '\r\n\r\n',
  `5;${'x'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`,
  '14\r\n{"value":"positive"}\r\n',
  '14\r\n{"value":"positive"}\r\n0\r\nbad trailer\r\n\r\n',
]

export const conflictingLengths = [
  ['Content-Length: 5', 'Transfer-Encoding: chunked'],
  ['Transfer-Encoding: chunked', 'Content-Length: 0'],
  ['Content-Length: 5', 'Content-Length: 6'],
  ['Content-Length: 5, 6'],
  ['Content-Length: +5'],
  ['Content-Length: 0x5'],
  ['Content-Length: 5', 'Transfer-Encoding : chunked'],
  ['Content-Length: 5', 'Transfer-Encoding:\x0bchunked'],
  ['Transfer-Encoding: xchunked'],
  ['Transfer-Encoding: chunked, identity'],
  ['Transfer-Encoding: identity, chunked', 'Transfer-Encoding: x'],
]

export function unusualRequests(authorization: string): string[] {
  const health = (...headers: string[]) => `GET /healthz HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`
  return [
    `GET http://127.0.0.1/api/v1/usage HTTP/1.1\r\nHost: x\r\n${authorization}\r\n\r\n`,
    'GET /\r\n\r\n',
    'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n',
    'CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: x\r\n\r\n',
    health('Host: x', 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'),
    health('Host: x', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: x'),
    health('Host: a', 'Host: b'),
    health('Host: x', 'Expect: miracles'),
    health('Host: x', 'Range: bytes=0-1,1-2,-5', 'TE: trailers', 'Connection: close, x'),
  ]
}

export function expensiveBodies(): [name: string, body: string | Buffer][] {
  const nested = (open: string, close: string, depth: number) => `${open.repeat(depth)}${close.repeat(depth)}`
  const metadata = (text: string) => `{"value":"positive","metadata":${text}}`
  const invalidUtf8 = (...bytes: number[]) =>
    Buffer.concat([Buffer.from('{"value":"positive","metadata":{"'), Buffer.from(bytes), Buffer.from('":1}}')])
  return [
    ['deep JSON', '['.repeat(100_000)],
    ['deep JSON', nested('[[', ']]', 50_000)],
    ['deep JSON', metadata(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`)],
    ['deep JSON', metadata(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`)],
    ['deep JSON', metadata(`{"a":${nested('[', ']', 8_000)}}`)],
    ['deep JSON', `{"value":${nested('[', ']', 30_000)}}`],
    ['huge number', metadata(`{"a":${'9'.repeat(10_000)}}`)],
    ['huge number', metadata(`{"a":-1e${'9'.repeat(10_000)},"b":0.${'0'.repeat(1_000)}1}`)],
    ['many members', metadata(`{${Array.from({ length: 1_000 }, (_, i) => `"${i}":${i}`).join()}}`)],
    ['duplicate member', '{"value":"negative","value":"positive","metadata":{},"metadata":{"a":1,"a":2}}'],
    ['odd member', metadata('{"__proto__":{"admin":true},"constructor":{"prototype":1},"":0}')],
    ['odd member', '{"__proto__":{"value":"positive"}}'],
    ['surrogate', metadata('{"a":"\\ud800","b":"\\udfff\\ud800","\\ud83d":"\\u0000"}')],
    ['escapes', metadata(`{"a":"${'\\u0000'.repeat(2_000)}"}`)],
    ['invalid UTF-8', invalidUtf8(0xff)],
    ['invalid UTF-8', invalidUtf8(0xed, 0xa0, 0x80)],
    ['invalid UTF-8', invalidUtf8(0xc0, 0xaf)],
    ['BOM', '\ufeff{"value":"positive"}'],
    ['UTF-16', Buffer.from('{"value":"positive"}', 'utf16le')],
    ['NUL', '{"value":"positive"}\0'],
    ['white space', `${' \t\r\n'.repeat(10_000)}{"value":"positive"}`],
  ]
}
