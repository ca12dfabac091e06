import type { ConfigSnapshot } from '../../../config/config.ts';
import { INLINE_CONFIG_VARIABLE, formatConfigName } from '../../../config/file/inline-config.ts';
import { loadConfig } from '../../../config/load-config.ts';
import { checkFolderOwners } from '../../../config/check-folder-owners.ts';
import { findConfig, resolveLocations, resolveStateDir } from '../../../config/find-config.ts';
import type { FoundConfig } from '../../../config/find-config.ts';
import { untrustedConfigError } from '../../../config/file/untrusted-config-error.ts';
import { isTrusted } from '../../../config/file/config-trust.ts';
import { GatewayError } from '../../../core/errors.ts';
import { formatCount } from '../../../core/lib/format-count.ts';
import type { CliContext } from '../../context.ts';
import type { GlobalOptions } from '../../declare.ts';
import type { Finding } from './finding.ts';

interface ConfigCheck {
  readonly findings: readonly Finding[];
  readonly file: string;
  /** The content if it does not come from the file. */
  readonly text?: string | undefined;
  readonly stateDir: string;
  /** Absent if the configuration cannot be used. */
  readonly snapshot?: ConfigSnapshot;
}

/** Checks the configuration. Returns its location even if it cannot be used, for the other checks. */
export async function checkConfigFile({ config }: GlobalOptions, context: CliContext): Promise<ConfigCheck> {
  const { env, cwd, version } = context;
  const locations = resolveLocations(context);
  const found = await findConfig({
    flag: config,
    env,
    cwd,
    locations,
    // Missing trust is reported as a finding below, so that the other checks still run.
    isTrusted: () => Promise.resolve(true),
  });
  const { file, from, text } = found;
  const location = { file, text, stateDir: resolveStateDir(file, locations) };
  try {
    checkFolderOwners(locations, process.getuid?.());
    if (from === 'project' && !(await isTrusted(file, locations.stateDir))) throw untrustedConfigError(file);
    const snapshot = await loadConfig({ file, text, version });
    return { findings: toUsableFindings(snapshot, found), ...location, snapshot };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    // `checkFilePermissions` already reports a file that other users can write.
    if (error.details['file'] === file && error.details['mode'] !== undefined)
      return { findings: [], ...location };
    return { findings: [toFailureFinding(error, found)], ...location };
  }
}

function toUsableFindings(
  { value, disabled, warnings }: ConfigSnapshot,
  { file, from }: FoundConfig,
): readonly Finding[] {
  const about = { check: 'configuration', subject: formatConfigName(file) } as const;
  const count = value.upstreams.length + disabled.length;
  return [
    { ...about, status: 'ok', message: formatCount(count, 'server') },
    ...warnings.map(({ line, column, message }): Finding => ({
      ...about,
      status: 'warning',
      message: `${line}:${column}: ${message}`,
      fix:
        from === 'inline'
          ? `Correct the variable ${INLINE_CONFIG_VARIABLE}.`
          : 'Correct it with: trunkline edit',
    })),
  ];
}

function toFailureFinding(error: GatewayError, { file, from }: FoundConfig): Finding {
  const { command } = error.details;
  const about = { check: 'configuration', subject: formatConfigName(file), message: error.message } as const;
  if (error.code === 'CONFIG_NOT_FOUND' && from === 'user')
    return {
      ...about,
      status: 'warning',
      fix: 'Create it and add a server with: trunkline init',
    };
  const where = from === 'inline' ? `the variable ${INLINE_CONFIG_VARIABLE}` : file;
  const fix = typeof command === 'string' ? `Read it, then run: ${command}` : `Correct ${where}.`;
  return { ...about, status: 'failure', fix, exit: error.traits.exit };
}
