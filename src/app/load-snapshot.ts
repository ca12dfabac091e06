import type { WarmState } from '../catalog/warm-file.ts';
import type { ConfigSnapshot } from '../config/config.ts';
import { configRevision } from '../config/load.ts';
import type { Fingerprint } from '../model/ids.ts';
import type { AppOptions } from './app-options.ts';

type Source = Pick<AppOptions, 'file' | 'version' | 'servers'>;

/** The same text under the same version means the same value, so that a warm start loads no parser and no schema. */
export async function loadSnapshot(
  source: Source,
  text: string,
  warm: WarmState | undefined,
): Promise<ConfigSnapshot> {
  // Our own file of this very build, written from a snapshot; paths in it depend on where the config lies.
  const remembered = warm?.config?.snapshot as ConfigSnapshot | undefined;
  const isKnown = warm?.config?.revision === revisionOf(source, text) && remembered?.file === source.file;
  return isKnown ? remembered : validated(source, text);
}

export function revisionOf({ servers, version }: Source, text: string): Fingerprint {
  return configRevision(servers === undefined ? text : `${text}\0${JSON.stringify(servers)}`, version);
}

export async function validated(source: Source, text: string): Promise<ConfigSnapshot> {
  const { validateConfig } = await import('../config/validate.ts');
  const { file, servers } = source;
  return validateConfig({ file, text, revision: revisionOf(source, text), servers });
}
