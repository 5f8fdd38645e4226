/** Where agents reach the service. */
export const mcpPath = '/mcp'
