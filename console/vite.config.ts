import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const service = 'http://127.0.0.1:3000'

// biome-ignore lint/style/noDefaultExport: Vite loads the default export.
export default defineConfig({
  plugins: [react()],
  resolve: { conditions: ['promptledger:source', 'module', 'browser', 'development|production'] },
  build: {
    target: 'baseline-widely-available',
    // The Content-Security-Policy forbids inline assets.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  // `npm run console` serves the pages from source and sends API requests to a local service.
  server: { proxy: { '/api': service, '/docs': service, '/openapi.json': service } },
})
