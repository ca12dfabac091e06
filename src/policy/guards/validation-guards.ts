import type { ToolEntry } from '../../core/entry.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Fingerprint, UpstreamName } from '../../core/ids.ts';
import { stringifyExact, withRoundedNumbers } from '../../core/lib/exact-json.ts';
import { isJsonObject } from '../../core/json.ts';
import type { Payload } from '../../core/lib/payload.ts';
import type { ArgumentCheck, ArgumentProblem } from '../argument-validation/argument-check.ts';
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

function invalidArgumentsError(
  { name, definition }: ToolEntry,
  found: readonly ArgumentProblem[],
): GatewayError {
  const problems = found.map(({ text }) => text);
  return new GatewayError(
    'ARGUMENTS_INVALID',
    `The arguments do not fit ${name} and were not sent: ${problems.join('; ')}.\n${describeSchema(definition['inputSchema'], found)}`,
    { details: { problems } },
  );
}

/** The maximum number of parameters that an error names, because models do not read longer lists. */
const MAX_NAMES = 40;

/** Quotes the schemas of the parameters that have a problem. If none of them exists, it names the parameters that do. */
function describeSchema(schema: unknown, problems: readonly ArgumentProblem[]): string {
  const properties = isJsonObject(schema) && isJsonObject(schema['properties']) ? schema['properties'] : {};
  const failing = Object.fromEntries(
    problems.flatMap(({ parameter }) =>
      parameter !== undefined && Object.hasOwn(properties, parameter)
        ? [[parameter, properties[parameter]]]
        : [],
    ),
  );
  const text = stringifyExact(failing);
  // A reference means nothing without the rest of the schema.
  if (text.includes('"$ref"')) return `Its input schema: ${stringifyExact(schema)}`;
  if (text !== '{}') return `The schema requires: ${text}`;
  const names: string[] = [];
  for (const name in properties) if (names.push(name) === MAX_NAMES) break;
  return names.length === 0 ? 'It takes no parameters.' : `Its parameters: ${names.join(', ')}`;
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
