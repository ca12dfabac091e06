import { dirname, join } from 'node:path';

import type { ConfigEdit } from '../../config/file/edit-config.ts';
import { writeFileAtomic } from '../../core/lib/write-file-atomic.ts';
import type { JsonObject } from '../../core/json.ts';
import { toVariableName } from './dialect.ts';
import { replaceEntryText } from './plaintext-secrets.ts';
import type { PlaintextSecret } from './plaintext-secrets.ts';

/** Where plaintext secrets go: they stay in the entry, or a reference to a variable, a file or a stored secret replaces them. */
export type SecretDestination = 'keep' | 'env' | 'file' | 'secret';

/** A server that is about to be added. */
export interface ServerAddition {
  readonly name: string;
  readonly entry: JsonObject;
  readonly secrets: readonly PlaintextSecret[];
  /** Whether this server is held for approval even if the other new servers are trusted. */
  readonly isHeld?: boolean | undefined;
}

/** A secret that was replaced by a reference. */
export interface MovedSecret {
  readonly server: string;
  readonly variable: string;
  readonly reference: string;
  readonly destination: SecretDestination;
  /** Absolute path, if the secret goes into a file. */
  readonly file?: string | undefined;
  readonly value: string;
}

/** Returns the edits that add servers, and the secrets that must be stored elsewhere for them. */
export function buildImportEdits(
  servers: readonly ServerAddition[],
  options: {
    readonly destination: SecretDestination;
    readonly configFile: string;
    readonly trust: 'first-sight' | 'manual';
    /** The existing secret files or stored secrets by variable name. */
    readonly existingFiles?: ReadonlyMap<string, string>;
  },
): { readonly edits: readonly ConfigEdit[]; readonly moved: readonly MovedSecret[] } {
  const { destination, configFile, trust } = options;
  const values = new Map(options.existingFiles);
  const moved: MovedSecret[] = [];
  const edits = servers.map(({ name, entry, secrets, isHeld }): ConfigEdit => {
    let value = trust === 'manual' || isHeld === true ? { ...entry, trust: 'manual' } : entry;
    for (const secret of destination === 'keep' ? [] : secrets) {
      const variable = chooseVariable(name, secret, values);
      const file = destination === 'file' ? join(dirname(configFile), 'secrets', variable) : undefined;
      const kind = destination === 'secret' ? 'secret' : 'env';
      const reference = file === undefined ? `\${${kind}:${variable}}` : `\${file:secrets/${variable}}`;
      value = replaceEntryText(value, secret, `${secret.before}${reference}${secret.after}`);
      moved.push({
        server: name,
        variable,
        reference,
        destination,
        value: unescapeReferences(secret.value),
        file,
      });
    }
    return { path: ['mcpServers', name], value };
  });
  return { edits, moved };
}

/** Writes the files of secrets, readable only by their owner. Call it before the references to them are written. */
export async function writeSecretFiles(moved: readonly MovedSecret[]): Promise<void> {
  for (const { file, value } of moved) if (file !== undefined) await writeFileAtomic(file, value, 0o600);
}

/** Chooses a variable name that does not already stand for another value. */
function chooseVariable(
  server: string,
  { variable, value: escapedValue }: PlaintextSecret,
  values: Map<string, string>,
): string {
  const value = unescapeReferences(escapedValue);
  for (const name of [variable, toVariableName(server, variable)]) {
    const existing = values.get(name);
    if (existing !== undefined && existing !== value) continue;
    values.set(name, value);
    return name;
  }
  const name = toVariableName(server, variable, String(values.size));
  values.set(name, value);
  return name;
}

function unescapeReferences(text: string): string {
  return text.replaceAll('$${', () => '${');
}
