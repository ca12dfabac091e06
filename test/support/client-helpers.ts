import { eventually } from './eventually.ts';
import type { RawClient } from './raw-client.ts';
import { type JsonObject, type ListedTool, RpcError, type ToolResult } from './raw-messages.ts';

/** Returns the text blocks of a result, joined by line breaks. */
export function textOfResult(result: ToolResult): string {
  return result.content.map(({ text }) => text ?? '').join('\n');
}

/** Returns the code of an error that the gateway itself created; undefined for results of servers. */
export function gatewayErrorCode(result: ToolResult): unknown {
  return result.isError === true ? result._meta?.['trunkline/code'] : undefined;
}

/** Returns the process id of a fixture, which it reports itself. */
export async function serverPid(client: RawClient, server = 'one'): Promise<number> {
  const answer: unknown = JSON.parse(textOfResult(await client.callTool(`${server}__pid`)));
  return (answer as { pid: number }).pid;
}

/** Waits until a tool is listed, and returns that list. */
export function waitForTool(
  client: RawClient,
  name: string,
  patience: { readonly withinMs?: number } = {},
): Promise<readonly ListedTool[]> {
  const listing = async (): Promise<readonly ListedTool[] | false> => {
    const tools = await client.listTools();
    return tools.some((tool) => tool.name === name) && tools;
  };
  return eventually(listing, { what: `The listing of ${name}`, withinMs: 30_000, ...patience });
}

/** Returns the entries of all pages of a list, such as `prompts/list` with its member `prompts`. */
export async function listAllPages(client: RawClient, method: string, member: string): Promise<JsonObject[]> {
  const entries: JsonObject[] = [];
  let cursor: unknown;
  do {
    const page = await client.request(method, cursor === undefined ? {} : { cursor });
    entries.push(...(page[member] as JsonObject[]));
    cursor = page['nextCursor'];
  } while (cursor !== undefined);
  return entries;
}

/** Returns the JSON-RPC error of a request; throws if the request does not fail with one. */
export async function rpcErrorOf(request: Promise<unknown>): Promise<RpcError> {
  const outcome: unknown = await request.then(
    (result) => ({ result }),
    (error: unknown) => error,
  );
  if (outcome instanceof RpcError) return outcome;
  throw new Error('The request did not fail with a JSON-RPC error.', { cause: outcome });
}
