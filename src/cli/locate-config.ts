import { findConfig, resolveLocations, resolveStateDir } from '../config/find-config.ts';
import type { Locations } from '../config/find-config.ts';
import { createStarterConfig } from '../config/starter-config.ts';
import { findGatewayRecord } from '../app/shared-gateway/gateway-record.ts';
import { isProcessAlive } from '../core/lib/is-process-alive.ts';
import { isTrusted } from '../config/file/config-trust.ts';
import type { CliContext } from './context.ts';

export interface ConfigLocation {
  /** The absolute path. */
  readonly file: string;
  readonly stateDir: string;
  /** The folder that records which project configurations are trusted. Absent unless a project's file was found. */
  readonly trustDir?: string | undefined;
  readonly locations: Locations;
  /** The content if it does not come from the file: the value of a variable, or `{}` if the file is missing and cannot be created. */
  readonly text?: string | undefined;
  /** Whether `text` comes from an environment variable. */
  readonly isTextFromEnvironment?: boolean | undefined;
}

interface LocateOptions {
  /** Whether the user's configuration is created if it is missing. */
  readonly canCreate?: boolean;
  /** Whether a note explains that the configuration cannot be created. */
  readonly canWarn?: boolean;
  /** Whether an untrusted project configuration is accepted while a gateway serves it. That gateway checks the trust itself. */
  readonly isGatewayEnough?: boolean;
}

/** Finds the configuration that a command uses, and creates the user's configuration if there is none. */
export async function locateConfig(
  flag: string | undefined,
  context: CliContext,
  { canCreate = true, canWarn = true, isGatewayEnough = false }: LocateOptions = {},
): Promise<ConfigLocation> {
  const locations = resolveLocations(context);
  const { file, from, text } = await findConfig({
    flag,
    env: context.env,
    cwd: context.cwd,
    locations,
    isTrusted: async (project) =>
      (isGatewayEnough && isServedByGateway(resolveStateDir(project, locations))) ||
      isTrusted(project, locations.stateDir),
  });
  const isMissing = canCreate && from === 'user' && !(await ensureConfigFile(file, context, canWarn));
  return {
    file,
    stateDir: resolveStateDir(file, locations),
    locations,
    trustDir: from === 'project' ? locations.stateDir : undefined,
    text: text ?? (isMissing ? '{}' : undefined),
    isTextFromEnvironment: text === undefined ? undefined : true,
  };
}

function isServedByGateway(stateDir: string): boolean {
  const record = findGatewayRecord(stateDir);
  return record !== undefined && isProcessAlive(record.pid);
}

/** Creates the configuration if it is missing. Returns false if it cannot be created, for example in a read-only home folder. */
async function ensureConfigFile(file: string, { out }: CliContext, canWarn: boolean): Promise<boolean> {
  try {
    if (await createStarterConfig(file))
      out.note(
        `Created a configuration without servers: ${file}. Add one with: trunkline add NAME -- COMMAND`,
      );
    return true;
  } catch (error) {
    if (!canWarn) return false;
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    out.note(
      `There is no configuration, and ${file} cannot be written (${code}). Continuing without servers. Name a file with --config, or set TRUNKLINE_HOME to a writable folder.`,
    );
    return false;
  }
}
