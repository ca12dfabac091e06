import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { problemOf } from '../../admin/problem.ts';
import type { AdminRoutes } from '../../admin/routes.ts';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import type { Caller } from '../../model/caller.ts';
import { GatewayError } from '../../model/errors.ts';
import type { Logger } from '../../observe/log.ts';

export interface AdminDoor extends Disposable {
  handle(request: IncomingMessage, response: ServerResponse): void;
}

/** Ways to prove that one is the operator; a dashboard's cookie becomes another. */
type Proof = (request: IncomingMessage) => boolean;

const MAX_BODY_BYTES = 16 * 1024 * 1024;
const CALLER: Caller = { id: 'admin', via: 'admin', profile: 'default' };

/** `/api` over TCP. Its key is in a file that only this user can read, new at each start; keys of callers do not open it. */
export async function openAdminDoor(options: {
  readonly runDir: string;
  readonly admin: () => Promise<AdminRoutes>;
  readonly log: Logger;
}): Promise<AdminDoor> {
  const file = join(options.runDir, 'admin.key');
  const key = `tladmin_${randomBytes(32).toString('base64url')}`;
  await writeFileAtomic(file, `${key}\n`, 0o600);
  const proofs: readonly Proof[] = [bearer(key)];
  let listening: Promise<(request: IncomingMessage, response: ServerResponse) => Promise<void>> | undefined;
  const load = async () => {
    const [{ getRequestListener }, routes] = await Promise.all([
      import('@hono/node-server'),
      options.admin(),
    ]);
    return getRequestListener((request) => routes.fetch(request, CALLER));
  };
  return {
    handle(request, response) {
      const refusal = problemIn(request, proofs);
      if (refusal !== undefined) return refuse(response, refusal);
      listening ??= load();
      listening
        .then((listener) => listener(request, response))
        .catch((error: unknown) => {
          options.log.error('The admin API failed.', { reason: String(error) });
          refuse(response, new GatewayError('INVARIANT', 'Internal error.'));
        });
    },
    [Symbol.dispose]: () => {
      // Another gateway may have put its own there.
      if (readKey(file) === key) rmSync(file, { force: true });
    },
  };
}

function problemIn(request: IncomingMessage, proofs: readonly Proof[]): GatewayError | undefined {
  if (!proofs.some((proof) => proof(request)))
    return new GatewayError(
      'CREDENTIALS_REFUSED',
      'The admin API needs its own key: send "Authorization: Bearer" with what is in run/admin.key of the state folder.',
    );
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  // Whoever reads it reads it whole.
  if (encoding === undefined && Number(length ?? 0) <= MAX_BODY_BYTES) return undefined;
  return new GatewayError('USAGE', `A body needs a Content-Length of at most ${MAX_BODY_BYTES} bytes.`);
}

function bearer(key: string): Proof {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const own = digest(`Bearer ${key}`);
  return ({ headers }) => timingSafeEqual(digest(headers.authorization ?? ''), own);
}

function refuse(response: ServerResponse, error: GatewayError): void {
  if (response.headersSent || response.destroyed) return;
  const { status, problem } = problemOf(error);
  const text = JSON.stringify(problem);
  response.writeHead(status, [
    ...['Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(text))],
    ...['Cache-Control', 'no-store'],
    ...(status === 401 ? ['WWW-Authenticate', 'Bearer realm="trunkline admin"'] : []),
  ]);
  response.end(text);
}

function readKey(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined; // It is gone already.
  }
}
