import type { WarmState } from '../catalog/warm-file.ts';
import type { ConfigSnapshot } from '../config/config.ts';
import { computeConfigRevision } from '../config/load-config.ts';
import type { Fingerprint } from '../core/ids.ts';
import { completeInSlices } from '../core/lib/complete-in-slices.ts';
import type { AppOptions } from './app-options.ts';

type Source = Pick<AppOptions, 'file' | 'version' | 'servers'>;

/**
 * Returns the validated configuration. If the text and the build are those of the last run, returns the saved snapshot, so that a warm
 * start loads no parser and no schema.
 */
export async function loadConfigSnapshot(
  source: Source,
  text: string,
  warm: WarmState | undefined,
): Promise<ConfigSnapshot> {
  // The cast is safe: the same build wrote the snapshot. The file must be the same, because paths in the snapshot depend on its location.
  const remembered = warm?.config?.snapshot as ConfigSnapshot | undefined;
  const isKnown =
    warm?.config?.revision === computeSourceRevision(source, text) && remembered?.file === source.file;
  return isKnown ? remembered : validateSource(source, text);
}

export function computeSourceRevision({ servers, version }: Source, text: string): Fingerprint {
  return computeConfigRevision(servers === undefined ? text : `${text}\0${JSON.stringify(servers)}`, version);
}

export async function validateSource(source: Source, text: string): Promise<ConfigSnapshot> {
  const { validateSteps } = await import('../config/validate-config.ts');
  const { file, servers } = source;
  const revision = computeSourceRevision(source, text);
  return completeInSlices(validateSteps({ file, text, revision, servers }));
}
