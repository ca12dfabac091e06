import { isSecretReferenceName } from '../../../config/resolve-references.ts';
import { dirname } from 'node:path';
import { makeFolder } from '../../../core/lib/make-folder.ts';
import type { ErrorCode } from '../../../core/errors.ts';
import { GatewayError } from '../../../core/errors.ts';
import type { JsonObject } from '../../../core/json.ts';
import { isJsonObject } from '../../../core/json.ts';
import { parseDocument, readNodeValue } from '../../../config/file/document.ts';
import { formatCount } from '../../../core/lib/format-count.ts';
import type { CliContext } from '../../context.ts';
import { openGatewayConnection } from '../../gateway-client/gateway-connection.ts';
import { toOneLine } from '../../sanitize.ts';
import type { EditableConfig } from './editable-config.ts';

/** The result of connecting to a server once. */
export interface ServerTest {
  readonly name: string;
  /** `sign-in`: the server works once a person has signed in. */
  readonly state: 'ready' | 'sign-in' | 'failed';
  readonly tools: number;
  readonly problem?: { readonly code: ErrorCode; readonly message: string; readonly details?: JsonObject };
}

/** A server that has not answered after this time may still be installing, which must not hold up the others. */
const MAX_TEST_MS = 60_000;
/** The maximum number of names on the progress line. */
const MAX_NAMES = 3;

/**
 * Connects to some of the servers that are not in the configuration yet, all at once, and shows the progress. Ctrl-C cancels all of it.
 * `servers` contains all of them, because the cached lists of a server that is missing there are deleted.
 */
export async function testServers(
  servers: Readonly<Record<string, JsonObject>>,
  config: EditableConfig,
  context: CliContext,
  tested: ReadonlySet<string>,
): Promise<readonly ServerTest[]> {
  const names = [...tested];
  const waiting = new Set(names);
  const interrupted = new AbortController();
  context.onStopSignal(() => interrupted.abort());
  using progress = context.out.progress(`Connecting to ${formatCount(names.length, 'server')}`);
  const { file, stateDir, document } = config;
  // Servers start in the folder of the configuration, which does not exist before the first set-up.
  await makeFolder(dirname(file), 0o700);
  const draft = { file, stateDir, text: addEntries(document.text, servers) };
  await using gateway = await openGatewayConnection(context, { draft });
  let ready = 0;
  const test = async (name: string): Promise<ServerTest> => {
    const signal = AbortSignal.any([interrupted.signal, AbortSignal.timeout(MAX_TEST_MS)]);
    try {
      const { tools } = await gateway.client.request('POST /api/servers/:name/refresh', { name }, { signal });
      ready += 1;
      return { name, state: 'ready', tools };
    } catch (error) {
      return toFailedTest(name, error);
    } finally {
      waiting.delete(name);
      const done = `${ready}/${names.length} ready`;
      const rest = [...waiting].slice(0, MAX_NAMES).map(toOneLine).join(', ');
      const more = waiting.size > MAX_NAMES ? ` and ${waiting.size - MAX_NAMES} more` : '';
      progress.update(
        waiting.size === 0 ? done : `${done}, waiting for ${rest}${more}`,
        1 - waiting.size / names.length,
      );
    }
  };
  const results = await Promise.all(names.map(test));
  if (interrupted.signal.aborted)
    throw new GatewayError('CALL_CANCELLED', 'The command was cancelled. Nothing was changed.');
  return results;
}

function toFailedTest(name: string, error: unknown): ServerTest {
  if (error instanceof GatewayError) {
    const { code, message, details } = error;
    const state = code === 'UPSTREAM_NEEDS_AUTH' ? 'sign-in' : 'failed';
    return { name, state, tools: 0, problem: { code, message, details: details ?? {} } };
  }
  const isLate = error instanceof Error && error.name === 'TimeoutError';
  const message = isLate
    ? `It was not ready within ${MAX_TEST_MS / 1000} s. It may still be installing.`
    : error instanceof Error
      ? error.message
      : String(error);
  return { name, state: 'failed', tools: 0, problem: { code: 'UPSTREAM_UNAVAILABLE', message } };
}

/** Returns the text of the configuration with further servers. */
function addEntries(text: string, servers: Readonly<Record<string, JsonObject>>): string {
  const parsed = parseDocument(text);
  const value = 'problem' in parsed ? undefined : readNodeValue(parsed.root);
  const root = isJsonObject(value) ? value : {};
  const existing = isJsonObject(root['mcpServers']) ? root['mcpServers'] : {};
  return JSON.stringify({ ...root, mcpServers: { ...existing, ...servers } });
}

/** Prints the result of each test: the number of tools, a sign-in that is needed, or the problem. */
export function printServerTests(tests: readonly ServerTest[], { out }: CliContext): void {
  const { bold, green, yellow, red } = out.paint;
  const colours = { ready: green, 'sign-in': yellow, failed: red };
  out.table(
    tests.map(({ name, state, tools, problem }) => [
      { text: state, paint: colours[state] },
      { text: toOneLine(name), paint: bold },
      state === 'ready' ? formatCount(tools, 'tool') : formatNeed(problem?.message ?? '', state),
    ]),
    { lastColumn: 'wrap' },
  );
}

function formatNeed(message: string, state: ServerTest['state']): string {
  return state === 'sign-in' ? 'needs a sign-in' : toOneLine(message);
}

/** Returns the name of the stored secret that a server lacks. */
export function findMissingSecret({ problem }: ServerTest): string | undefined {
  const { from, name } = problem?.details ?? {};
  const isNamed = from === 'env' || from === 'secret' || from === 'keychain';
  const canBeStored = isNamed && typeof name === 'string' && isSecretReferenceName(name);
  return problem?.code === 'SECRET_MISSING' && canBeStored ? name : undefined;
}
