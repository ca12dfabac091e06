import { dirname } from 'node:path';
import { readServerEntry } from '../config/read-server-entry.ts';
import { createReferenceReader } from '../config/resolve-references.ts';
import { resolveTransport } from '../config/resolve-transport.ts';
import type { GatewayError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import { preflightCheck } from '../upstream/connecting/preflight-check.ts';
import { loginPath } from '../upstream/process/login-path.ts';
import { openSecrets } from './open-secrets.ts';
import type { AppOptions } from './app-options.ts';

/** Checks an entry without starting its server. Returns the error that would prevent the start, or undefined if the check finds none. */
export async function preflightEntry(
  name: string,
  entry: JsonObject,
  options: Pick<AppOptions, 'file' | 'stateDir' | 'env' | 'home' | 'platform' | 'version'>,
): Promise<GatewayError | undefined> {
  const { file, stateDir, env, home, platform } = options;
  const read = readServerEntry(name, entry, file);
  if ('problem' in read) return undefined;
  await using secrets = await openSecrets(options);
  const reader = createReferenceReader({ env, home, configFile: file, secrets });
  return await preflightCheck(read.upstream, {
    env,
    platform,
    resolveTransport: (upstream) => resolveTransport(upstream, reader, dirname(file)),
    searchPath: () =>
      loginPath({
        env,
        stateDir,
        now: Date.now(),
        platform,
      }),
  });
}
