// An MCP client of the official SDK, connected to a service.

import type { CallToolResult, Tool } from '@modelcontextprotocol/client';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import assert from 'node:assert/strict';

export type McpClient = {
  instructions: string;
  protocolVersion: string;
  tools: readonly Tool[];
  /** Calls a tool and returns its structured content. Fails if the call failed. The SDK validates the content against the schema. */
  ok(name: string, given: Record<string, unknown>): Promise<any>;
  /** Calls a tool and returns the message of its error. Fails if the call succeeded. */
  error(name: string, given: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
};

/**
 * With `isNewest`, the client negotiates protocol version 2026-07-28 by `server/discover`. Otherwise it negotiates version 2025-11-25 by the
 * handshake `initialize`.
 */
export async function connectMcp(url: string, { isNewest = false } = {}): Promise<McpClient> {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    isNewest ? { versionNegotiation: { mode: 'auto' } } : {},
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
  // The list has the output schemas of the tools. Without the list, `callTool` does not validate the structured content.
  const { tools } = await client.listTools();
  const call = (name: string, given: Record<string, unknown>) => client.callTool({ name, arguments: given });
  return {
    instructions: client.getInstructions() ?? '',
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
    tools,
    ok: async (name, given) => {
      const result = await call(name, given);
      assert.notEqual(result.isError, true, `${name} ${JSON.stringify(given)}: ${textOf(result)}`);
      assert.deepEqual(JSON.parse(textOf(result)), result.structuredContent);
      return result.structuredContent;
    },
    error: async (name, given) => {
      const result = await call(name, given);
      assert.equal(result.isError, true, `${name} ${JSON.stringify(given)} succeeded`);
      return textOf(result);
    },
    close: () => client.close(),
  };
}

function textOf({ content }: CallToolResult): string {
  assert.equal(content.length, 1);
  const [block] = content;
  return block?.type === 'text' ? block.text : assert.fail('the content is not text');
}
