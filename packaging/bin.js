#!/usr/bin/env node
// Old versions of Node have to be able to parse this file: no import statement, no recent syntax.
var required = [22, 13]
var current = process.versions.node.split('.').map(Number)

if (current[0] > required[0] || (current[0] === required[0] && current[1] >= required[1])) {
  hideSqliteWarning()
  // Commands run for a moment, and Node's own cache has what they need.
  if ([undefined, 'serve', 'demo'].includes(process.argv[2])) require('./code-cache.js').loadShared()
  require('./main.js')
} else {
  process.stderr.write(
    'promptledger: Node.js ' +
      required.join('.') +
      ' or newer is required, and this is ' +
      process.versions.node +
      '.\n' +
      'Install a newer version from https://nodejs.org, or run Promptledger in a container.\n',
  )
  process.exitCode = 1
}

/** Node 22 warns on every start that node:sqlite is experimental. */
function hideSqliteWarning() {
  const emitWarning = process.emitWarning
  process.emitWarning = (warning, ...options) => {
    if (!/^SQLite is an experimental feature/.test(String(warning))) emitWarning.call(process, warning, ...options)
  }
}
