import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Packages of the pages that a real project installs. Those of model providers are replaced by `models`. */
const packages = [
  'ai',
  '@ai-sdk/otel',
  '@langchain/core',
  '@llamaindex/core',
  '@opentelemetry/exporter-trace-otlp-proto',
  '@opentelemetry/sdk-trace-node',
]

/** Models without a provider, which answer with what they were asked: of the frameworks themselves where they have one. */
const models: Record<string, string> = {
  '@ai-sdk/openai': `
    import { MockLanguageModelV4 } from 'ai/test'
    const tokens = { total: 1 }
    export const openai = (modelId) => new MockLanguageModelV4({ modelId, doGenerate: async ({ prompt }) => ({
      content: [{ type: 'text', text: JSON.stringify(prompt) }],
      finishReason: { unified: 'stop' },
      usage: { inputTokens: tokens, outputTokens: tokens },
      response: { id: 'response-1', modelId: modelId + '-2026' },
      warnings: [],
    }) })`,
  '@langchain/openai': `
    import { FakeChatModel } from '@langchain/core/utils/testing'
    export class ChatOpenAI extends FakeChatModel {}`,
  '@llamaindex/openai': `
    import { BaseLLM } from '@llamaindex/core/llms'
    export class OpenAI extends BaseLLM {
      metadata = { model: 'none', temperature: 0, topP: 1, contextWindow: 4096 }
      async chat({ messages }) {
        return { message: { role: 'assistant', content: JSON.stringify(messages) }, raw: null }
      }
    }`,
}

/** Adds the frameworks to a project. */
export async function addFrameworks(project: string): Promise<void> {
  const modules = join(project, 'node_modules')
  for (const name of packages) {
    await mkdir(dirname(join(modules, name)), { recursive: true })
    await symlink(join(root, 'node_modules', name), join(modules, name))
  }
  for (const [name, code] of Object.entries(models)) {
    await mkdir(join(modules, name), { recursive: true })
    await writeFile(join(modules, name, 'package.json'), '{"type":"module","exports":"./index.js"}')
    await writeFile(join(modules, name, 'index.js'), code)
  }
}

/** Writes the files of a page, which are the blocks that start with their name, and returns its last block of commands. */
export async function writePage(name: string, folder: string): Promise<string> {
  const page = await readFile(join(root, 'docs/frameworks', `${name}.md`), 'utf8')
  await mkdir(folder, { recursive: true })
  for (const [, code = '', file = ''] of page.matchAll(/^```\w+\n((?:\/\/|#) (\w+\.\w+)\n[\s\S]*?)^```/gm)) {
    await writeFile(join(folder, file), code)
  }
  return [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)].at(-1)?.[1] ?? ''
}

/** The request that a node of an n8n workflow declares, for this item. */
export async function n8nRequest(file: string, json: object): Promise<{ url: string; init: RequestInit }> {
  const { nodes } = JSON.parse(await readFile(join(root, 'examples/n8n', file), 'utf8'))
  const { parameters } = nodes.find(({ type }: { type: string }) => type === 'n8n-nodes-base.httpRequest')
  const { method, url, headerParameters, jsonBody } = parameters
  const pairs = headerParameters.parameters.map(({ name, value }: Record<string, string>) => [name, evaluate(value)])
  return {
    url: evaluate(url),
    init: {
      method,
      headers: { 'content-type': 'application/json', ...Object.fromEntries(pairs) },
      body: evaluate(jsonBody),
    },
  }

  /** As n8n: a text that starts with `=` is an expression, with JavaScript in double braces. */
  function evaluate(text = ''): string {
    if (!text.startsWith('=')) return text
    return text.slice(1).replaceAll(/\{\{(.+?)\}\}(?!\})/gs, (_, code) => {
      return String(new Function('$json', '$execution', '$itemIndex', `return (${code})`)(json, { id: '231' }, 0))
    })
  }
}
