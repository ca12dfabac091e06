import { eventually } from './eventually.ts';
import type { RawClient } from './raw-client.ts';
import { type JsonObject, type ListedTool, RpcError, type ToolResult } from './raw-messages.ts';

/** The texts of a result. */
export function textOfResult(result: ToolResult): string {
  return result.content.map(({ text }) => text ?? '').join('\n');
}

/** The code of an error that the gateway itself made; undefined for what a server said. */
export function gatewayErrorCode(result: ToolResult): unknown {
  return result.isError === true ? result._meta?.['trunkline/code'] : undefined;
}

/** The process that serves a fixture, as it tells itself. */
export async function serverPid(client: RawClient, server = 'one'): Promise<number> {
  const answer: unknown = JSON.parse(textOfResult(await client.callTool(`${server}__pid`)));
  return (answer as { pid: number }).pid;
}

/** Waits until a tool is listed and gives the list that has it. */
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

/** Every page of a list, such as `prompts/list` with its member `prompts`. */
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

/** The error of the protocol that a request is answered with. */
export async function rpcErrorOf(request: Promise<unknown>): Promise<RpcError> {
  const outcome: unknown = await request.then(
    (result) => ({ result }),
    (error: unknown) => error,
  );
  if (outcome instanceof RpcError) return outcome;
  throw new Error('The request did not fail with an error of the protocol.', { cause: outcome });
}
