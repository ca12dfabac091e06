import { shellWord } from '../../../lib/shell-word.ts';
import { GatewayError } from '../../../model/errors.ts';
import type { ExitCode } from '../../../model/errors.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { CliContext } from '../../context.ts';
import type { GlobalOptions } from '../../declare.ts';
import { onLine } from '../../line/on-line.ts';
import { counted } from '../listing.ts';
import type { ConfigChange } from './config-change.ts';

/** Connects to a server once and says what it offers, or why it cannot be reached and how to mend that. */
export async function tryServer(
  name: string,
  options: GlobalOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { out } = context;
  try {
    return await onLine(chosen(options), context, async ({ client, signal }) => {
      const server = await out.during(`Connecting to ${name}`, () =>
        client.ask('POST /api/servers/:name/refresh', { name }, { signal }),
      );
      const offers = `It offers ${counted(server.tools, 'tool')}. See them with: trunkline tools ${name}`;
      if (out.style.format === 'json') out.note(offers);
      else out.line(offers);
      return 0;
    });
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code === 'CALL_CANCELLED') throw error;
    out.problem(error);
    out.note(mend(name, error));
    // To be asked for a sign-in is how a server that has one begins.
    return error.code === 'UPSTREAM_NEEDS_AUTH' ? 0 : error.traits.exit;
  }
}

/** What is known to be wrong with a server that is not tried, since nobody sits there; nothing is started to find out. */
export async function foreseenProblem(
  name: string,
  entry: JsonObject,
  { change, context }: { readonly change: ConfigChange; readonly context: CliContext },
): Promise<GatewayError | undefined> {
  const { foreseenEntry } = await import('../../../app/foreseen-entry.ts');
  const { file, stateDir } = change;
  const { env, home, platform } = context;
  return foreseenEntry(name, entry, { file, stateDir, env, home, platform });
}

/** The command has done what it was asked for, so this is no error of its own. */
export function tellForeseen(name: string, error: GatewayError, { out }: CliContext): void {
  out.note(error.message);
  out.note(mend(name, error));
}

function mend(name: string, { code }: GatewayError): string {
  if (code === 'UPSTREAM_NEEDS_AUTH') return `It was added. Sign in with: trunkline login ${shellWord(name)}`;
  if (code === 'SECRET_MISSING')
    return `It was added. Give what it names a value, then: trunkline refresh ${shellWord(name)}`;
  return `It was added all the same. Mend it with: trunkline edit ${shellWord(name)}\nThen try it with: trunkline refresh ${shellWord(name)}`;
}

/** Other options of the command belong to the command. */
function chosen({ config }: GlobalOptions): GlobalOptions {
  return config === undefined ? {} : { config };
}
