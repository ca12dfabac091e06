import { createHash } from 'node:crypto';
import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { GatewayError } from '../../../core/errors.ts';
import { isJsonObject } from '../../../core/json.ts';
import type { JsonObject } from '../../../core/json.ts';
import { toGrantDetails, prepareSignIn } from '../prepare-sign-in.ts';
import type { SignInTarget } from '../prepare-sign-in.ts';
import { formatLoginCommand } from '../sign-in-required-error.ts';
import type { StoredTokens } from '../stored-tokens.ts';

const MAX_BYTES = 256 * 1024;

/** Imports the tokens that `mcp-remote` saved for exactly this address. Its files are named after a hash of the address. */
export async function importMcpRemote(
  target: SignInTarget,
  { folder }: { readonly folder: string },
): Promise<StoredTokens> {
  const { vault, signInId, url } = target;
  const files = await findNewestFiles(url, folder);
  if (files === undefined) {
    throw new GatewayError(
      'SIGN_IN_FAILED',
      `mcp-remote has no tokens for ${url} in ${folder}. The address must be exactly the one that mcp-remote was given; tokens for other addresses are not imported.`,
      { details: { upstream: signInId.upstream } },
    );
  }
  const { tokens, client, savedAt } = files;
  const accessToken = readText(tokens, 'access_token');
  if (accessToken === undefined || !/^[\x21-\x7e]+$/.test(accessToken))
    throw new GatewayError(
      'SIGN_IN_FAILED',
      `mcp-remote has no usable token for ${url}. Run \`${formatLoginCommand(signInId)}\` instead.`,
    );
  const id = readText(client, 'client_id');
  // The token endpoint is discovered from the server itself, not read from a file.
  const details =
    id === undefined
      ? undefined
      : toGrantDetails(
          await prepareSignIn(target),
          { id, secret: readText(client, 'client_secret') },
          target,
        );
  const expiresIn = Number(tokens['expires_in'] ?? Number.NaN);
  const imported: StoredTokens = {
    ...details,
    url,
    accessToken,
    obtainedAt: savedAt,
    flow: 'imported',
    scope: readText(tokens, 'scope') ?? details?.scope,
    // Without the client id, the refresh token cannot be used.
    refreshToken: details === undefined ? undefined : readText(tokens, 'refresh_token'),
    expiresAt: Number.isFinite(expiresIn) && expiresIn > 0 ? savedAt + expiresIn * 1000 : undefined,
  };
  await vault.save(signInId, imported);
  await vault.saveNote(signInId, undefined);
  return imported;
}

interface McpRemoteFiles {
  readonly tokens: JsonObject;
  readonly client: JsonObject;
  readonly savedAt: number;
}

/** Returns the most recently saved tokens. Each version of `mcp-remote` has its own folder. */
async function findNewestFiles(url: string, root: string): Promise<McpRemoteFiles | undefined> {
  const hash = createHash('md5').update(url).digest('hex');
  const names = await readdir(root).catch(() => []);
  const folders = [
    root,
    ...names.filter((name) => name.startsWith('mcp-remote-')).map((name) => join(root, name)),
  ];
  let newest: McpRemoteFiles | undefined;
  for (const folder of folders) {
    const file = join(folder, `${hash}_tokens.json`);
    const savedAt = await stat(file).then(
      ({ mtimeMs }) => mtimeMs,
      () => undefined,
    );
    if (savedAt === undefined || savedAt <= (newest?.savedAt ?? 0)) continue;
    const tokens = await readObject(file);
    const client = await readObject(join(folder, `${hash}_client_info.json`));
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
    return undefined; // A missing or damaged file counts as absent.
  }
}

function readText(value: JsonObject, name: string): string | undefined {
  const text = value[name];
  return typeof text === 'string' && text !== '' ? text : undefined;
}
