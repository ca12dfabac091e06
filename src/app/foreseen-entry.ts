import { dirname } from 'node:path';
import { readEntry } from '../config/entry-problem.ts';
import { referenceReader, revealTransport } from '../config/references.ts';
import type { GatewayError } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import { foresee } from '../upstream/opening/foresee.ts';
import { loginPath } from '../upstream/process/login-path.ts';
import type { AppOptions } from './app-options.ts';

/** Why a server with this entry could not be opened, as far as that is known without starting anything. */
export async function foreseenEntry(
  name: string,
  entry: JsonObject,
  options: Pick<AppOptions, 'file' | 'stateDir' | 'env' | 'home' | 'platform'>,
): Promise<GatewayError | undefined> {
  const { file, stateDir, env, home, platform } = options;
  const read = readEntry(name, entry, file);
  if ('problem' in read) return undefined;
  const reader = referenceReader({ env, home, configFile: file });
  return foresee(read.upstream, {
    ...{ env, platform },
    reveal: (upstream) => revealTransport(upstream, reader, dirname(file)),
    path: () => loginPath({ env, stateDir, now: Date.now(), platform }),
  });
}
