import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const service = 'http://127.0.0.1:3000'

// biome-ignore lint/style/noDefaultExport: where Vite looks for it.
export default defineConfig({
  plugins: [react()],
  resolve: { conditions: ['promptledger:source', 'module', 'browser', 'development|production'] },
  build: {
    target: 'baseline-widely-available',
    // Nothing inline: the page's policy allows only files.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  // For `npm run console`: pages as you write them, answers from a service that runs beside.
  server: { proxy: { '/api': service, '/docs': service, '/openapi.json': service } },
})
