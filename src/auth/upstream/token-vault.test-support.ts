import { join } from 'node:path';

import { onTestFinished } from 'vitest';

import type { UpstreamName } from '../../model/ids.ts';
import { silentLogger } from '../../observe/log.ts';
import { type Database, openDatabase } from '../../storage/database.ts';
import type { StorePlace } from '../../storage/store-place.ts';
import type { GuardedFetch } from './oauth/guarded-fetch.ts';
import { keyFile } from './sealing/secret-key.ts';
import type { StoredTokens } from './stored-tokens.ts';
import { TokenVault } from './token-vault.ts';

export const place = { upstream: 'tickets' as UpstreamName, caller: '' };
export const url = 'https://tickets.example.com/mcp';

/** That can be renewed. */
export function tokens(accessToken: string, more: Partial<StoredTokens> = {}): StoredTokens {
  return {
    ...{ url, accessToken, refreshToken: `r-${accessToken}`, obtainedAt: 1, flow: 'browser' },
    server: {
      ...{ issuer: 'https://login.example.com', tokenEndpoint: 'https://login.example.com/token' },
      ...{ authMethods: [], signingAlgorithms: [] },
    },
    client: { id: 'trunkline' },
    ...more,
  };
}

export interface Disk {
  isFull: boolean;
}

interface VaultOptions {
  readonly disk?: Disk;
  readonly saveAgainMs?: number;
  readonly isFollowed?: boolean;
}

/** As another process has it that uses the same store. */
export async function openVault(where: StorePlace, options: VaultOptions = {}): Promise<TokenVault> {
  const { disk, ...others } = options;
  const opened = await openDatabase(where);
  const database = disk === undefined ? opened : onDisk(opened, disk);
  onTestFinished(() => opened[Symbol.asyncDispose]());
  return new TokenVault({
    database: () => Promise.resolve(database),
    key: keyFile(join(where.stateDir, 'secret.key')),
    ...{ pid: process.pid, now: Date.now, log: silentLogger, saveAgainMs: 20 },
    ...others,
  });
}

/** No sign-in is saved in it while the disk is full. */
function onDisk(database: Database, disk: Disk): Database {
  const announce: typeof database.changes.announce = async (...said) => {
    if (disk.isFull) throw new Error('full');
    return database.changes.announce(...said);
  };
  const changes = new Proxy(database.changes, {
    get: (target, name) => (name === 'announce' ? announce : Reflect.get(target, name, target)),
  });
  return { ...database, changes };
}

/** An authorization server whose refresh tokens are good for one time. */
export class OneTimeTokens {
  /** Refresh tokens that somebody offered twice. */
  readonly reused: string[] = [];
  /** Whether it refuses all of them. */
  isOver = false;
  /** Whether the access token stays the same. */
  keepsAccess = false;
  /** Happens while somebody waits for an answer. */
  meanwhile: () => Promise<unknown> = () => Promise.resolve();
  readonly #spent = new Set<string>();

  readonly fetch: GuardedFetch = async (_url, request) => {
    const offered = new URLSearchParams(request?.body ?? '').get('refresh_token') ?? '';
    await this.meanwhile();
    if (this.#spent.has(offered)) this.reused.push(offered);
    if (this.isOver || this.#spent.has(offered)) return answer(400, { error: 'invalid_grant' });
    this.#spent.add(offered);
    const access = this.keepsAccess ? 'always' : `${offered}!`;
    return answer(200, { access_token: access, refresh_token: `${offered}+`, token_type: 'Bearer' });
  };
}

function answer(status: number, body: object): Awaited<ReturnType<GuardedFetch>> {
  return { status, headers: {}, text: JSON.stringify(body) };
}
