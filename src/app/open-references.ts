import { RunningPrograms } from '../config/reference-command.ts';
import { createReferenceReader } from '../config/resolve-references.ts';
import type { Logger } from '../observability/log.ts';
import { loginPath } from '../upstream/process/login-path.ts';
import type { AppOptions } from './app-options.ts';
import type { Foundation } from './open-foundation.ts';
import { createSecretStore } from './open-secrets.ts';
import type { Runtime } from './runtime.ts';

/** Opens the store of secrets, and creates the reader that resolves references in the configuration. */
export function openReferences(options: AppOptions, runtime: Runtime, foundation: Foundation, log: Logger) {
  const { env, home } = options;
  const configFile = runtime.snapshot.file;
  const readVariable = runtime.variables.read;
  const running = new RunningPrograms();
  const secrets = createSecretStore(options, { ...foundation, log, running });
  const searchPath = createSearchPath(options);
  const reader = createReferenceReader({
    env,
    readVariable,
    home,
    configFile,
    secrets,
    searchPath,
    running,
  });
  return { secrets, searchPath, running, readVariable, reader };
}

/** Returns a function that finds the PATH of a login shell once. */
function createSearchPath({ env, stateDir, platform }: AppOptions): () => Promise<string | undefined> {
  let path: Promise<string | undefined> | undefined;
  return () => (path ??= loginPath({ env, stateDir, now: Date.now(), platform }));
}
