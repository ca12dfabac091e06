import type { ToolEntry } from '../../core/entry.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Fingerprint, UpstreamName } from '../../core/ids.ts';
import { stringifyExact, withRoundedNumbers } from '../../core/lib/exact-json.ts';
import type { Payload } from '../../core/lib/payload.ts';
import type { ArgumentCheck } from '../argument-validation/argument-check.ts';
import type { Call, Guard, Next } from '../guard.ts';

/** Maximum number of compiled schemas in memory; each takes a few kilobytes. */
const MAX_CACHED_CHECKS = 1_000;

/** Validates the arguments of calls with `shouldValidateArguments` against the input schema. Invalid arguments are not sent. */
export function argumentValidationGuard(): Guard {
  const checks = new Map<Fingerprint, ArgumentCheck | undefined>();
  const validateAndContinue = async (entry: ToolEntry, call: Call, next: Next): Promise<Payload> => {
    if (!checks.has(entry.fingerprint)) {
      // The validator is loaded on first use, because most processes never need it.
      const { compileArgumentCheck } = await import('../argument-validation/argument-check.ts');
      // The cast is safe because the map is not empty here.
      if (checks.size >= MAX_CACHED_CHECKS) checks.delete(checks.keys().next().value as Fingerprint);
      checks.set(entry.fingerprint, compileArgumentCheck(entry.definition['inputSchema']));
    }
    // Numbers that would lose precision are represented by marked strings. They are rounded for the check,
    // because the schema expects numbers.
    const args = withRoundedNumbers(call.operation.params['arguments'] ?? {});
    const problems = checks.get(entry.fingerprint)?.(args) ?? [];
    if (problems.length > 0) throw invalidArgumentsError(entry, problems);
    return next(call);
  };
  return (call, next) => {
    const { entry } = call.operation;
    return call.shouldValidateArguments === true && entry?.kind === 'tool'
      ? validateAndContinue(entry, call, next)
      : next(call);
  };
}

function invalidArgumentsError({ name, definition }: ToolEntry, problems: readonly string[]): GatewayError {
  const schema = stringifyExact(definition['inputSchema']);
  return new GatewayError(
    'ARGUMENTS_INVALID',
    `The arguments do not fit ${name} and were not sent: ${problems.join('; ')}.\nIts input schema: ${schema}`,
    { details: { problems } },
  );
}

/** Sizes in bytes; 0 means unlimited. */
interface SizeLimits {
  readonly argumentBytes: number;
  readonly resultBytes: number;
}

/** Rejects arguments and results that are larger than the configuration allows. */
export function sizeLimitGuard(limitsOf: (upstream: UpstreamName) => SizeLimits | undefined): Guard {
  return (call, next) => {
    const { upstream, params } = call.operation;
    const { argumentBytes = 0, resultBytes = 0 } = limitsOf(upstream) ?? {};
    if (argumentBytes > 0) {
      const bytes = Buffer.byteLength(stringifyExact(params['arguments'] ?? {}));
      if (bytes > argumentBytes) throw argumentsTooLarge(upstream, bytes, argumentBytes);
    }
    return resultBytes === 0
      ? next(call)
      : next(call).then((payload) => checkResultSize(payload, upstream, resultBytes));
  };
}

function argumentsTooLarge(upstream: UpstreamName, bytes: number, argumentBytes: number): GatewayError {
  const message = `The arguments have ${bytes} bytes, and server "${upstream}" accepts at most ${argumentBytes} (limits.argumentBytes). Nothing was sent; send less per call.`;
  return new GatewayError('ARGUMENTS_REFUSED', message, { details: { upstream, bytes, argumentBytes } });
}

function checkResultSize(payload: Payload, upstream: UpstreamName, resultBytes: number): Payload {
  // A UTF-16 code unit takes one to three bytes in UTF-8, so the bytes of most results need not be counted.
  if (3 * payload.length <= resultBytes) return payload;
  const bytes = payload.length > resultBytes ? payload.length : payload.byteLength;
  if (bytes <= resultBytes) return payload;
  const message = `The result of server "${upstream}" is larger than ${resultBytes} bytes (limits.resultBytes) and was not passed on; the call was made. Request less, such as a page, a range or fewer fields.`;
  throw new GatewayError('RESULT_TOO_LARGE', message, { details: { upstream, bytes, resultBytes } });
}
