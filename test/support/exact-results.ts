import { readExactly } from './json-text.ts';
import type { RawClient } from './raw-client.ts';
import type { JsonObject } from './raw-messages.ts';

/** A JSON object in which no digit was lost. */
export type ExactObject = Map<string, unknown>;

/** Members that belong to the protocol between two neighbours and not to what is passed through. */
const hopMembers = ['resultType', 'ttlMs', 'cacheScope'];
const serverInfo = 'io.modelcontextprotocol/serverInfo';

/** The result of a request with every number as it was written, less what belongs to the hop. */
export async function requestExactly(
  client: RawClient,
  method: string,
  params: JsonObject = {},
): Promise<ExactObject> {
  const id = `exactly ${method} ${client.rawLines.length}`;
  await client.request(method, params, { id });
  const line = client.rawLines.findLast((text) => text.includes(JSON.stringify(id))) ?? '';
  const message = readExactly(line) as ExactObject;
  const result = message.get('result') as ExactObject;
  for (const member of hopMembers) result.delete(member);
  const meta = result.get('_meta');
  if (meta instanceof Map) {
    meta.delete(serverInfo);
    if (meta.size === 0) result.delete('_meta');
  }
  return result;
}

/** The entries of a list by their name or URI. */
export async function listExactly(
  client: RawClient,
  method: string,
  [member, key]: readonly [string, string],
): Promise<ReadonlyMap<string, ExactObject>> {
  const result = await requestExactly(client, method);
  return new Map((result.get(member) as ExactObject[]).map((entry) => [String(entry.get(key)), entry]));
}
