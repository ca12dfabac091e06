import { dirname, join } from 'node:path';

import type { ConfigEdit } from '../config/file/edit.ts';
import { writeFileAtomic } from '../lib/atomic-file.ts';
import type { JsonObject } from '../model/json.ts';
import { variableName } from './dialect.ts';
import { withText } from './secrets.ts';
import type { PlainSecret } from './secrets.ts';

/** Where secrets that stand in plain text go: they stay, or a reference takes their place. */
export type SecretPlace = 'keep' | 'env' | 'file';

/** A server that is about to be added. */
export interface Addition {
  readonly name: string;
  readonly entry: JsonObject;
  readonly secrets: readonly PlainSecret[];
}

/** A secret that a reference stands for from now on. */
export interface MovedSecret {
  readonly server: string;
  readonly variable: string;
  readonly reference: string;
  /** Absolute; of secrets that go into files. */
  readonly file?: string;
  readonly value: string;
}

/** The edits that add servers, and the secrets that must be put elsewhere for them. */
export function additions(
  servers: readonly Addition[],
  options: {
    readonly place: SecretPlace;
    readonly configFile: string;
    readonly trust: 'first-sight' | 'manual';
    /** Secrets that are in files already. */
    readonly known?: ReadonlyMap<string, string>;
  },
): { readonly edits: readonly ConfigEdit[]; readonly moved: readonly MovedSecret[] } {
  const { place, configFile, trust } = options;
  const values = new Map(options.known);
  const moved: MovedSecret[] = [];
  const edits = servers.map(({ name, entry, secrets }): ConfigEdit => {
    let own = trust === 'manual' ? { ...entry, trust } : entry;
    for (const secret of place === 'keep' ? [] : secrets) {
      const variable = nameFor(name, secret, values);
      const file = place === 'file' ? join(dirname(configFile), 'secrets', variable) : undefined;
      const reference = file === undefined ? `\${env:${variable}}` : `\${file:secrets/${variable}}`;
      own = withText(own, secret, `${secret.before}${reference}${secret.after}`);
      moved.push({
        server: name,
        variable,
        reference,
        value: unescaped(secret.value),
        ...(file !== undefined && { file }),
      });
    }
    return { path: ['mcpServers', name], value: own };
  });
  return { edits, moved };
}

/** Writes the files of secrets, readable for their owner only; they come before what refers to them. */
export async function writeSecrets(moved: readonly MovedSecret[]): Promise<void> {
  for (const { file, value } of moved) if (file !== undefined) await writeFileAtomic(file, value, 0o600);
}

/** One name stands for one value. */
function nameFor(
  server: string,
  { variable, value: written }: PlainSecret,
  values: Map<string, string>,
): string {
  const value = unescaped(written);
  for (const name of [variable, variableName(server, variable)]) {
    const known = values.get(name);
    if (known !== undefined && known !== value) continue;
    values.set(name, value);
    return name;
  }
  const name = variableName(server, variable, String(values.size));
  values.set(name, value);
  return name;
}

/** As the server gets it. */
function unescaped(text: string): string {
  return text.replaceAll('$${', () => '${');
}
