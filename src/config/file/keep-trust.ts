import type { ConfigDocument, SavedConfig } from './edit.ts';
import { isTrustedText, trustWritten } from './trust.ts';

/** A project configuration that was trusted as it was read is trusted as we write it, and in no other form. */
export async function keepTrust(
  { file, text, isNew }: Pick<ConfigDocument, 'file' | 'text' | 'isNew'>,
  stateDir: string,
  save: () => Promise<SavedConfig>,
): Promise<SavedConfig> {
  const wasTrusted = !isNew && (await isTrustedText(file, text, stateDir));
  const saved = await save();
  if (saved.isChanged && wasTrusted) await trustWritten(file, saved.written, stateDir);
  return saved;
}
