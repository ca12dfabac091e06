import { join } from 'node:path';

import { onTestFinished } from 'vitest';

import type { UpstreamName } from '../../core/ids.ts';
import { silentLogger } from '../../observability/log.ts';
import { type Database, openDatabase } from '../../core/storage/database.ts';
import type { StoreLocation } from '../../core/storage/store-location.ts';
import type { GuardedFetch } from './oauth/guarded-fetch.ts';
import { openKeyFile } from './token-encryption/secret-key.ts';
import type { StoredTokens } from './stored-tokens.ts';
import { TokenVault } from './token-vault.ts';

export const signInId = { upstream: 'tickets' as UpstreamName, caller: '' };
export const url = 'https://tickets.example.com/mcp';

/** Returns tokens that can be refreshed. */
export function tokens(accessToken: string, more: Partial<StoredTokens> = {}): StoredTokens {
  return {
    url,
    accessToken,
    refreshToken: `r-${accessToken}`,
    obtainedAt: 1,
    flow: 'browser',
    server: {
      issuer: 'https://login.example.com',
      tokenEndpoint: 'https://login.example.com/token',
      authMethods: [],
      signingAlgorithms: [],
    },
    client: { id: 'trunkline' },
    ...more,
  };
}

interface Disk {
  isFull: boolean;
}

interface VaultOptions {
  readonly disk?: Disk;
  readonly saveRetryMs?: number;
  readonly hasChangeNotifications?: boolean;
}

/** Opens a vault as another process with the same store would. */
export async function openVault(where: StoreLocation, options: VaultOptions = {}): Promise<TokenVault> {
  const { disk, ...others } = options;
  const opened = await openDatabase(where);
  const database = disk === undefined ? opened : withDisk(opened, disk);
  onTestFinished(() => opened[Symbol.asyncDispose]());
  return new TokenVault({
    database: () => Promise.resolve(database),
    key: openKeyFile(join(where.stateDir, 'secret.key')),
    pid: process.pid,
    now: Date.now,
    log: silentLogger,
    saveRetryMs: 20,
    ...others,
  });
}

/** Makes every write of a sign-in fail while the disk is full. */
function withDisk(database: Database, disk: Disk): Database {
  const announce: typeof database.changes.announce = async (...change) => {
    if (disk.isFull) throw new Error('full');
    return database.changes.announce(...change);
  };
  const changes = new Proxy(database.changes, {
    get: (target, name) => (name === 'announce' ? announce : Reflect.get(target, name, target)),
  });
  return { ...database, changes };
}

/** An authorization server whose refresh tokens work once. */
export class OneTimeTokens {
  /** Refresh tokens that were used twice. */
  readonly reused: string[] = [];
  /** Whether the server rejects all refresh tokens. */
  isRevoked = false;
  /** Whether a refresh returns the same access token. */
  keepsAccess = false;
  /** Runs while a request waits for its response. */
  meanwhile: () => Promise<unknown> = () => Promise.resolve();
  readonly #used = new Set<string>();

  readonly fetch: GuardedFetch = async (_url, request) => {
    const refreshToken = new URLSearchParams(request?.body ?? '').get('refresh_token') ?? '';
    await this.meanwhile();
    if (this.#used.has(refreshToken)) this.reused.push(refreshToken);
    if (this.isRevoked || this.#used.has(refreshToken)) return jsonResponse(400, { error: 'invalid_grant' });
    this.#used.add(refreshToken);
    const access = this.keepsAccess ? 'always' : `${refreshToken}!`;
    return jsonResponse(200, {
      access_token: access,
      refresh_token: `${refreshToken}+`,
      token_type: 'Bearer',
    });
  };
}

function jsonResponse(status: number, body: object): Awaited<ReturnType<GuardedFetch>> {
  return { status, headers: {}, text: JSON.stringify(body) };
}
