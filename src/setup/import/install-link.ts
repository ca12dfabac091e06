import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';

/** The content of an installation link: a server in the format of the client, which may be wrapped as in a configuration. */
export interface LinkedServer {
  readonly name: string | undefined;
  readonly entry: JsonObject;
}

/** Longer links are not used by any client. */
const MAX_CHARACTERS = 64 * 1024;
const VSCODE_LINK = /^vscode(?:-insiders)?:(?:\/\/)?\/?mcp\/install\?/i;
/** The web pages that README files link to. They open the links of the applications. */
const VSCODE_PAGE = /^https:\/\/(?:insiders\.)?vscode\.dev\/redirect(?:\/mcp\/install)?\?/i;
const CONFIG_LINK =
  /^(?:cursor:\/\/anysphere\.cursor-deeplink\/mcp\/install|https:\/\/(?:www\.)?cursor\.com\/(?:[a-z]{2}\/)?install-mcp|lmstudio:\/\/add_mcp)\?/i;

/** Whether a text is an installation link of Cursor, VS Code or LM Studio. */
export function isInstallLink(text: string): boolean {
  return [VSCODE_LINK, VSCODE_PAGE, CONFIG_LINK].some((pattern) => pattern.test(text));
}

/** Parses an installation link. Throws an error with the reason if the link is malformed. */
export function parseInstallLink(link: string): LinkedServer {
  if (link.length > MAX_CHARACTERS) throw new Error(`it is longer than ${MAX_CHARACTERS} characters`);
  const query = link.slice(link.indexOf('?') + 1);
  if (VSCODE_LINK.test(link)) return toLinkedServer(parseJson(decode(query)));
  const parameters = new URLSearchParams(query);
  if (VSCODE_PAGE.test(link)) {
    const inner = parameters.get('url');
    if (inner !== null && VSCODE_LINK.test(inner)) return parseInstallLink(inner);
    const inputs = parameters.get('inputs');
    const entry = parseJson(parameters.get('config') ?? '');
    return {
      name: parameters.get('name') ?? undefined,
      entry: inputs === null ? entry : { ...entry, inputs: JSON.parse(inputs) as unknown },
    };
  }
  // Base64 in a query often contains "+", which a query decodes to a space.
  const config = (parameters.get('config') ?? '').replaceAll(' ', '+');
  const entry = parseJson(Buffer.from(config, 'base64').toString('utf8'));
  return toLinkedServer({ ...entry, name: parameters.get('name') ?? entry['name'] });
}

function toLinkedServer({ name, ...entry }: JsonObject): LinkedServer {
  return { name: typeof name === 'string' ? name : undefined, entry };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    throw new Error('its text is not encoded correctly', { cause: error });
  }
}

function parseJson(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error('it does not contain the JSON of a server', { cause: error });
  }
  if (!isJsonObject(value)) throw new Error('it does not contain the JSON of a server');
  return value;
}
