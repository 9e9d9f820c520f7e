// The MCP server: it offers the tools to agents. Each HTTP request gets a server object of its own, so no state is kept between requests,
// and any node can respond to any request.

import { McpServer, createMcpHandler, fromJsonSchema } from '@modelcontextprotocol/server';
import type { Chains } from '../../platform/core/chains.ts';
import type { Log } from '../../platform/core/log.ts';
import { toSdkInput } from './arguments.ts';
import type { PublicRead } from './public-read.ts';
import { ToolError } from './public-read.ts';
import type { AgentTool, ToolArguments, ToolContext } from './tool.ts';
import { createTools, instructionsFor } from './tools.ts';

export type McpOptions = { name: string; version: string; chains: Chains; log: Log };

/** Responds to one HTTP request. `read` reads the public interfaces on behalf of the client that sent the request. */
export type McpResponder = (request: Request, read: PublicRead) => Promise<Response>;

const READ_ONLY = { readOnlyHint: true };

export function createMcpResponder({ name, version, chains, log }: McpOptions): McpResponder {
  const instructions = instructionsFor(chains);
  // Each schema is compiled at its first use and then kept, because compiling costs more than a call.
  const tools = createTools(chains).map((tool) => ({
    tool,
    input: toSdkInput(tool.input),
    output: fromJsonSchema(tool.output),
  }));
  const createServer = (context: ToolContext) => {
    const server = new McpServer({ name, version }, { instructions, capabilities: { tools: { listChanged: false } } });
    for (const { tool, input, output } of tools) {
      const { description } = tool;
      const title = toTitle(tool.name);
      const definition = { title, description, inputSchema: input, outputSchema: output, annotations: READ_ONLY };
      server.registerTool(tool.name, definition, (given) => callTool(tool, { context, given, log }));
    }
    return server;
  };
  return (request, read) => {
    // Nothing changes the tools while the process runs, so a client has nothing to subscribe to.
    const handler = createMcpHandler(() => createServer({ read, chains }), { maxSubscriptions: 0 });
    return handler.fetch(request);
  };
}

/** What clients show to people: `List collections` for `list_collections`. */
function toTitle(name: string): string {
  const words = name.replaceAll('_', ' ');
  return `${words[0]?.toUpperCase()}${words.slice(1)}`;
}

/** An error that is not a ToolError is a bug: it is logged, and the agent gets no detail. */
async function callTool(
  tool: AgentTool,
  { context, given, log }: { context: ToolContext; given: ToolArguments; log: Log },
) {
  try {
    const result = await tool.call(context, given);
    return { content: [{ type: 'text' as const, text: JSON.stringify(result) }], structuredContent: result };
  } catch (error) {
    if (!(error instanceof ToolError)) log.error('a tool call failed', { tool: tool.name, error });
    const message = error instanceof ToolError ? error.message : 'Something went wrong inside the service';
    return { content: [{ type: 'text' as const, text: message }], isError: true };
  }
}
