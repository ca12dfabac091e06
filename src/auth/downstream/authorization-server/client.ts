import { isJsonObject } from '../../../model/json.ts';
import { isUsableRedirect } from './redirect-uris.ts';

/** A program that asks for access on somebody's behalf. What it says of itself is only what it says. */
export interface OauthClient {
  readonly id: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
}

const MAX_REDIRECTS = 10;
const MAX_NAME = 80;

/** Reads what a client says of itself; a text is what is wrong with it. */
export function readClient(value: unknown, id: string): OauthClient | string {
  if (!isJsonObject(value)) return 'It must be an object.';
  const uris = value['redirect_uris'];
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > MAX_REDIRECTS)
    return `"redirect_uris" must be a list of 1 to ${MAX_REDIRECTS} addresses.`;
  const isFine = (uri: unknown): uri is string => typeof uri === 'string' && isUsableRedirect(uri);
  if (!uris.every(isFine))
    return 'Each of "redirect_uris" must be https, http on this machine, or a scheme of a program, without a fragment.';
  const name = value['client_name'];
  return { id, name: typeof name === 'string' ? tame(name) : '', redirectUris: uris };
}

/** One short line in reading order, so that a name can only be a name. */
function tame(name: string): string {
  const plain = name
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return plain.length > MAX_NAME ? `${plain.slice(0, MAX_NAME)}…` : plain;
}
