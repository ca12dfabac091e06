import { readWarmFile } from '../catalog/warm-file.ts';
import type { WarmState } from '../catalog/warm-file.ts';
import type { ConfigSnapshot } from '../config/config.ts';
import { readConfigAtStart } from '../config/load-config.ts';
import { GatewayError } from '../core/errors.ts';
import type { AppOptions } from './app-options.ts';
import { loadConfigSnapshot } from './load-config-snapshot.ts';
import { findProfileProblem } from './find-profile-problem.ts';

/** The configuration that a gateway starts with, and the state that the last run saved. */
export interface StartConfig {
  readonly text: string;
  readonly snapshot: ConfigSnapshot;
  readonly warm: WarmState | undefined;
  /** Whether `catalog.json` of the last run exists but cannot be read. */
  readonly isWarmDamaged: boolean;
}

/** Reads the configuration. Rejects if it is invalid, or if it is a project's file whose current text the user has not trusted. */
export async function readStartConfig(options: AppOptions): Promise<StartConfig> {
  let isWarmDamaged = false;
  const warm = readWarmFile(options.stateDir, options.build, () => (isWarmDamaged = true));
  const text = options.text ?? (await readConfigAtStart(options.file));
  if (options.trustDir !== undefined) await checkTrust(options.file, text, options.trustDir);
  const snapshot = await loadConfigSnapshot(options, text, warm);
  const problem = findProfileProblem(options.profile, snapshot.value);
  if (problem !== undefined) throw new GatewayError('USAGE', problem);
  return { text, snapshot, warm, isWarmDamaged };
}

async function checkTrust(file: string, text: string, trustDir: string): Promise<void> {
  const [{ isTrustedText }, { untrustedConfigError: untrusted }] = await Promise.all([
    import('../config/file/config-trust.ts'),
    import('../config/file/untrusted-config-error.ts'),
  ]);
  if (!(await isTrustedText(file, text, trustDir))) throw untrusted(file);
}
