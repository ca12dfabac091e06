import { readExactly } from './json-text.ts';
import type { RawClient } from './raw-client.ts';
import type { JsonObject } from './raw-messages.ts';

/** A JSON object whose numbers have kept every digit. */
export type ExactObject = Map<string, unknown>;

/** Members that each hop sets itself, so a gateway does not forward them. */
const hopMembers = ['resultType', 'ttlMs', 'cacheScope'];
const serverInfo = 'io.modelcontextprotocol/serverInfo';

/** Returns the result of a request with every number as written, without the members of the hop. */
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

/** Returns the entries of a list by name or URI. */
export async function listExactly(
  client: RawClient,
  method: string,
  [member, key]: readonly [string, string],
): Promise<ReadonlyMap<string, ExactObject>> {
  const result = await requestExactly(client, method);
  return new Map((result.get(member) as ExactObject[]).map((entry) => [String(entry.get(key)), entry]));
}
