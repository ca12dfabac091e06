import { createHash } from 'node:crypto';
import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { GatewayError } from '../../../model/errors.ts';
import { isJsonObject } from '../../../model/json.ts';
import type { JsonObject } from '../../../model/json.ts';
import { prepareSignIn } from '../prepare-sign-in.ts';
import type { SignInTarget } from '../prepare-sign-in.ts';
import { grantedBy } from '../sign-in.ts';
import type { StoredTokens } from '../stored-tokens.ts';

const MAX_BYTES = 256 * 1024;

/** Takes over what `mcp-remote` has for this very address; it names its files after the hash of the address they are for. */
export async function importMcpRemote(
  target: SignInTarget,
  { folder }: { readonly folder: string },
): Promise<StoredTokens> {
  const { vault, place, url } = target;
  const found = await newestFor(url, folder);
  if (found === undefined) {
    throw new GatewayError(
      'SIGN_IN_FAILED',
      `mcp-remote has no tokens for ${url} in ${folder}. It must be the address as mcp-remote was given it; tokens of other addresses are not taken.`,
      { details: { upstream: place.upstream } },
    );
  }
  const { tokens, client, savedAt } = found;
  const accessToken = textOf(tokens, 'access_token');
  if (accessToken === undefined || !/^[\x21-\x7e]+$/.test(accessToken))
    throw new GatewayError('SIGN_IN_FAILED', `What mcp-remote has for ${url} holds no usable token.`);
  const refreshToken = textOf(tokens, 'refresh_token');
  const scope = textOf(tokens, 'scope');
  const expiresIn = Number(tokens['expires_in'] ?? Number.NaN);
  const id = textOf(client, 'client_id');
  const secret = textOf(client, 'client_secret');
  // Where it can be renewed is asked of the server itself, not taken from a file.
  const prepared = id === undefined ? undefined : await prepareSignIn(target);
  const imported: StoredTokens = {
    url,
    ...(prepared !== undefined &&
      id !== undefined &&
      grantedBy(prepared, { id, ...(secret !== undefined && { secret }) }, target)),
    accessToken,
    obtainedAt: savedAt,
    flow: 'imported',
    ...(scope !== undefined && { scope }),
    ...(refreshToken !== undefined && prepared !== undefined && { refreshToken }),
    ...(Number.isFinite(expiresIn) && expiresIn > 0 && { expiresAt: savedAt + expiresIn * 1000 }),
  };
  await vault.save(place, imported);
  await vault.note(place, undefined);
  return imported;
}

interface Found {
  readonly tokens: JsonObject;
  readonly client: JsonObject;
  readonly savedAt: number;
}

/** Each of its versions has a folder of its own; what was written last counts. */
async function newestFor(url: string, folder: string): Promise<Found | undefined> {
  const hash = createHash('md5').update(url).digest('hex');
  const names = await readdir(folder).catch(() => []);
  const folders = [
    folder,
    ...names.filter((name) => name.startsWith('mcp-remote-')).map((name) => join(folder, name)),
  ];
  let newest: Found | undefined;
  for (const each of folders) {
    const file = join(each, `${hash}_tokens.json`);
    const savedAt = await stat(file).then(
      ({ mtimeMs }) => mtimeMs,
      () => undefined,
    );
    if (savedAt === undefined || savedAt <= (newest?.savedAt ?? 0)) continue;
    const tokens = await readObject(file);
    const client = await readObject(join(each, `${hash}_client_info.json`));
    if (tokens !== undefined) newest = { tokens, client: client ?? {}, savedAt };
  }
  return newest;
}

async function readObject(file: string): Promise<JsonObject | undefined> {
  try {
    if ((await stat(file)).size > MAX_BYTES) return undefined;
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // Not there or not whole: as good as nothing.
  }
}

function textOf(value: JsonObject, name: string): string | undefined {
  const text = value[name];
  return typeof text === 'string' && text !== '' ? text : undefined;
}
