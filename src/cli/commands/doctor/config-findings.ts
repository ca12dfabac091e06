import type { ConfigSnapshot } from '../../../config/config.ts';
import { INLINE_CONFIG, shownConfig } from '../../../config/file/inline.ts';
import { loadConfig } from '../../../config/load.ts';
import { findConfig, locations, stateDirOf } from '../../../config/paths.ts';
import type { FoundConfig } from '../../../config/paths.ts';
import { untrusted } from '../../../config/reload/untrusted.ts';
import { isTrusted } from '../../../config/file/trust.ts';
import { GatewayError } from '../../../model/errors.ts';
import type { CliContext } from '../../context.ts';
import type { GlobalOptions } from '../../declare.ts';
import type { Finding } from './finding.ts';

interface ConfigFindings {
  readonly findings: readonly Finding[];
  readonly file: string;
  readonly stateDir: string;
  /** Absent where it cannot be used. */
  readonly snapshot?: ConfigSnapshot;
}

/** What is wrong with the configuration; what else is known of it is told nevertheless. */
export async function configFindings(
  { config }: GlobalOptions,
  context: CliContext,
): Promise<ConfigFindings> {
  const { env, cwd, version } = context;
  const places = locations(context);
  const found = await findConfig({
    ...{ flag: config, env, cwd, locations: places },
    // Told below: a gateway may serve what the file said before.
    isTrusted: () => Promise.resolve(true),
  });
  const { file, from, text } = found;
  const place = { file, stateDir: stateDirOf(file, places) };
  try {
    if (from === 'project' && !(await isTrusted(file, places.stateDir))) throw untrusted(file);
    const snapshot = await loadConfig({ file, text, version });
    return { findings: usable(snapshot, found), ...place, snapshot };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { findings: [failure(error, found)], ...place };
  }
}

function usable(
  { value, disabled, warnings }: ConfigSnapshot,
  { file, from }: FoundConfig,
): readonly Finding[] {
  const about = { check: 'configuration', subject: shownConfig(file) } as const;
  const count = value.upstreams.length + disabled.length;
  return [
    { ...about, status: 'ok', message: `${count} ${count === 1 ? 'server' : 'servers'}` },
    ...warnings.map(({ line, column, message }): Finding => ({
      ...about,
      status: 'warning',
      message: `${line}:${column}: ${message}`,
      fix: from === 'inline' ? `Mend ${INLINE_CONFIG} where it is set.` : 'Mend it: trunkline edit',
    })),
  ];
}

function failure(error: GatewayError, { file, from }: FoundConfig): Finding {
  const { command } = error.details;
  const about = { check: 'configuration', subject: shownConfig(file), message: error.message } as const;
  if (error.code === 'CONFIG_NOT_FOUND' && from === 'user')
    return {
      ...about,
      status: 'warning',
      fix: 'The first other command writes one; add servers to it then.',
    };
  const where = from === 'inline' ? `${INLINE_CONFIG} where it is set` : file;
  const fix = typeof command === 'string' ? `Read it, then: ${command}` : `Mend ${where}.`;
  return { ...about, status: 'failure', fix, exit: error.traits.exit };
}
