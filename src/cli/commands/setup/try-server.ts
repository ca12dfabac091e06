import { quoteShellWord } from '../../../core/lib/quote-shell-word.ts';
import { GatewayError } from '../../../core/errors.ts';
import type { ExitCode } from '../../../core/errors.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { CliContext } from '../../context.ts';
import type { GlobalOptions } from '../../declare.ts';
import { withGateway } from '../../gateway-client/with-gateway.ts';
import { formatCount } from '../../../core/lib/format-count.ts';
import type { EditableConfig } from './editable-config.ts';

/** Connects to a new server once. Prints the number of its tools, or the problem and how to fix it. */
export async function tryServer(
  name: string,
  options: GlobalOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { out } = context;
  try {
    return await withGateway({ config: options.config }, context, async ({ client, signal }) => {
      const server = await out.withProgress(`Connecting to ${name}`, () =>
        client.request('POST /api/servers/:name/refresh', { name }, { signal }),
      );
      const message = `${name} has ${formatCount(server.tools, 'tool')}. List them with: trunkline tools ${quoteShellWord(name)}`;
      if (out.style.format === 'json') out.note(message);
      else out.line(message);
      return 0;
    });
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code === 'CALL_CANCELLED') throw error;
    out.problem(error);
    out.note(formatNextStep(name, error));
    // A server that needs a sign-in is expected to reject the first connection.
    return error.code === 'UPSTREAM_NEEDS_AUTH' ? 0 : error.traits.exit;
  }
}

/** Returns a problem that is known without starting the server, for servers that are added without a terminal. */
export async function checkNewEntry(
  name: string,
  entry: JsonObject,
  { config, context }: { readonly config: EditableConfig; readonly context: CliContext },
): Promise<GatewayError | undefined> {
  const { preflightEntry } = await import('../../../app/preflight-entry.ts');
  const { file, stateDir } = config;
  const { env, home, platform, version } = context;
  return preflightEntry(name, entry, { file, stateDir, env, home, platform, version });
}

/** Reports the problem as a note, because adding the server has succeeded. */
export function notePreflightProblem(name: string, error: GatewayError, { out }: CliContext): void {
  out.note(error.message);
  out.note(formatNextStep(name, error));
}

function formatNextStep(name: string, { code }: GatewayError): string {
  const server = quoteShellWord(name);
  if (code === 'UPSTREAM_NEEDS_AUTH') return `${name} was added. Sign in with: trunkline login ${server}`;
  if (code === 'SECRET_MISSING')
    return `${name} was added. Set the missing secret, then connect with: trunkline refresh ${server}`;
  return `${name} was added nevertheless. Correct its entry with: trunkline edit ${server}\nThen connect with: trunkline refresh ${server}`;
}
