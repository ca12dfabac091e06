import { isSecretReferenceName } from '../../config/resolve-references.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { readSecret } from '../read-secret.ts';
import { describeSecretPlace, withSecrets } from './setup/secret-access.ts';

/** Reads a value from standard input and stores it under a name. */
export async function runSecretSet(
  options: GlobalOptions,
  context: CliContext,
  [name = '', ...rest]: readonly string[],
): Promise<ExitCode> {
  assertSecretName(name);
  if (rest.length > 0)
    throw new GatewayError(
      'USAGE',
      `The value of a secret is not taken from the command line, which other users can read. Run trunkline secret set ${name} and type it, or send it to standard input.`,
    );
  const { out } = context;
  const stopping = new AbortController();
  context.onStopSignal(() =>
    stopping.abort(new GatewayError('CALL_CANCELLED', 'The command was cancelled. Nothing was saved.')),
  );
  const value = await readSecret(context, {
    prompt: `Type or paste the value of ${name} and press Enter. It is not shown.`,
    signal: stopping.signal,
    isWholeInput: true,
  });
  if (value === '')
    throw new GatewayError('USAGE', `There was no value on standard input, so ${name} was not stored.`);
  const { place, servers } = await withSecrets(options.config, context, (secrets) =>
    secrets.write(name, value),
  );
  if (out.style.format === 'json') out.json({ name, place, servers });
  else out.line(`Stored ${name} in ${describeSecretPlace(place)}. Refer to it with \${secret:${name}}`);
  if (servers.length > 0) out.note(`Restarted with the new value: ${servers.join(', ')}`);
  return 0;
}

/** Lists the names of the stored secrets, never their values. */
export async function runSecretList(options: GlobalOptions, context: CliContext): Promise<ExitCode> {
  const { out } = context;
  const stored = await withSecrets(options.config, context, (secrets) => secrets.list());
  if (out.style.format === 'json') out.json(stored);
  else if (stored.length === 0) out.note('No secrets are stored. Store one with: trunkline secret set NAME');
  else
    out.table(
      stored.map(({ name, place, savedAt }) => [
        { text: name, paint: out.paint.bold },
        place,
        new Date(savedAt).toISOString().slice(0, 10),
      ]),
      { hasNameColumn: true },
    );
  return 0;
}

export async function runSecretRemove(
  options: GlobalOptions,
  context: CliContext,
  [name = '']: readonly string[],
): Promise<ExitCode> {
  const { out } = context;
  assertSecretName(name);
  const removed = await withSecrets(options.config, context, (secrets) => secrets.remove(name));
  if (!removed)
    throw new GatewayError('ENTRY_NOT_FOUND', `No secret "${name}" is stored. See: trunkline secret list`);
  if (out.style.format === 'json') out.json({ name, removed });
  else out.line(`Deleted ${name}.`);
  return 0;
}

function assertSecretName(name: string): void {
  if (isSecretReferenceName(name)) return;
  throw new GatewayError('USAGE', 'The name of a secret has up to 128 letters, digits, "_", "-" and ".".');
}
