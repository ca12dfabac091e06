import { stringifyExact } from '../../lib/exact-json.ts';
import type { Payload } from '../../lib/payload.ts';
import type { ToolEntry } from '../../model/entry.ts';
import { GatewayError } from '../../model/errors.ts';
import type { Fingerprint } from '../../model/ids.ts';
import type { ArgumentCheck } from '../argument-check.ts';
import type { Call, Guard, Next } from '../call.ts';

/** Compiled schemas that are kept; each is some kilobytes of code. */
const MAX_KEPT = 1_000;

/** Arguments of calls that want it are checked against the input schema, and never reach the server if they do not fit. */
export function validate(): Guard {
  const checks = new Map<Fingerprint, ArgumentCheck | undefined>();
  const checked = async (entry: ToolEntry, call: Call, next: Next): Promise<Payload> => {
    if (!checks.has(entry.fingerprint)) {
      // The compiler of schemas is large, and most processes never need it.
      const { argumentCheck } = await import('../argument-check.ts');
      if (checks.size >= MAX_KEPT) checks.delete(checks.keys().next().value as Fingerprint); // It is not empty.
      checks.set(entry.fingerprint, argumentCheck(entry.definition['inputSchema']));
    }
    // As the server will read them: numbers that only travel as marked strings are numbers again.
    const args: unknown = JSON.parse(stringifyExact(call.operation.params['arguments'] ?? {}));
    const problems = checks.get(entry.fingerprint)?.(args) ?? [];
    if (problems.length > 0) throw misfit(entry, problems);
    return next(call);
  };
  return (call, next) => {
    const { entry } = call.operation;
    return call.checksArguments === true && entry?.kind === 'tool' ? checked(entry, call, next) : next(call);
  };
}

function misfit({ name, definition }: ToolEntry, problems: readonly string[]): GatewayError {
  const schema = stringifyExact(definition['inputSchema']);
  return new GatewayError(
    'ARGUMENTS_INVALID',
    `The arguments do not fit ${name} and were not sent: ${problems.join('; ')}.\nIts input schema: ${schema}`,
    { details: { problems } },
  );
}
