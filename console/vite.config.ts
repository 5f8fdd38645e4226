import { defineConfig } from 'vite'

const service = 'http://127.0.0.1:3000'

// biome-ignore lint/style/noDefaultExport: Vite loads the default export.
export default defineConfig({
  resolve: {
    conditions: ['promptledger:source', 'module', 'browser', 'development|production'],
    // Preact has React's API: with react-dom, all pages together take half as much again.
    alias: {
      'react/jsx-runtime': 'preact/jsx-runtime',
      'react-dom/client': 'preact/compat/client',
      'react-dom': 'preact/compat',
      react: 'preact/compat',
    },
  },
  build: {
    target: 'baseline-widely-available',
    // The Content-Security-Policy forbids inline assets.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // The console, and the page of `promptledger demo` that shows votes in a page.
      input: ['index.html', 'demo/thumbs.html'].map((page) => `${import.meta.dirname}/${page}`),
      // Packages mark modules with "use client" for servers that render pages, which we do not.
      onwarn: (warning, report) => warning.code !== 'MODULE_LEVEL_DIRECTIVE' && report(warning),
    },
    // Most licences ask to be distributed with the code.
    license: { fileName: 'licences.json' },
  },
  // `npm run console` serves the pages from source and sends API requests to a local service.
  server: { proxy: { '/api': service, '/docs': service, '/openapi.json': service, '/demo/tokens': service } },
})
