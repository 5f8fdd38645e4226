import type { Header, Schema } from '../../../../contract/operation.ts'

export type { Header, Schema }

/** The parts of an OpenAPI document that we generate. */
export interface Document {
  openapi: string
  info: { title: string; version: string; summary: string; description: string; license: object }
  servers: { url: string; description: string }[]
  security: Security[]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  /** The requests that the service sends to receivers of alerts, by event. */
  webhooks: Record<string, { post: Operation }>
  components: {
    securitySchemes: Record<string, { type: string; description: string; name?: string; in?: string; scheme?: string }>
    headers: Record<string, Header>
    responses: Record<string, Response>
    schemas: Record<string, Schema>
  }
}

export interface Operation {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security?: Security[]
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: Record<string, Media> }
  responses: Record<string, Response | Reference>
}

type Security = Record<string, string[]>

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description: string
  schema: Schema
}

export interface Response {
  description: string
  headers?: Record<string, Header | Reference>
  content?: Record<string, Media>
}

export interface Media {
  schema: Schema
  examples?: Record<string, { value: unknown }>
}

export interface Reference {
  $ref: string
}

/** Follows a reference within the document. Returns other values unchanged. */
export function resolve<T extends object>(document: Document, value: T | Reference): T {
  if (!('$ref' in value) || value.$ref === undefined) return value as T
  const steps = value.$ref.split('/').slice(1)
  return steps.reduce<unknown>((part, step) => (part as Record<string, unknown>)[step], document) as T
}
