import { setTimeout as delay } from 'node:timers/promises';
import type { AdminLogLine } from '../../../admin/contract/contract.ts';
import type { ExitCode } from '../../../core/errors.ts';
import type { CliContext } from '../../context.ts';
import type { GlobalOptions } from '../../declare.ts';
import { sanitize, toOneLine } from '../../sanitize.ts';
import { withGateway } from '../../gateway-client/with-gateway.ts';

interface ServerLogOptions extends GlobalOptions {
  readonly limit?: number;
  readonly follow?: boolean;
}

const DEFAULT_LINES = 50;
/** The maximum number of lines per request when following. */
const MAX_LINES = 5000;
const POLL_INTERVAL_MS = 300;

/** Prints the standard error of a server's process, with the gateway's messages about the server. Can follow new lines. */
export function printServerLog(
  server: string,
  { config, limit = DEFAULT_LINES, follow }: ServerLogOptions,
  context: CliContext,
): Promise<ExitCode> {
  return withGateway(
    { config },
    context,
    async (gateway) => {
      const { out, stdout } = context;
      const { client, signal } = gateway;
      const fetchLines = (from?: number) =>
        client.request(
          'GET /api/servers/:name/log',
          {
            name: server,
            lines: from === undefined ? limit : MAX_LINES,
            from,
          },
          { signal },
        );
      const first = await fetchLines();
      const { file } = first;
      let { lines, next } = first;
      if (follow !== true) {
        if (out.style.format === 'json') out.json({ server, file, lines });
        else if (lines.length === 0) out.line(`The log of ${server} is empty.`);
        else printLines(lines, context);
        return 0;
      }
      for (;;) {
        if (out.style.format === 'json') for (const each of lines) out.jsonText(JSON.stringify(each));
        else printLines(lines, context);
        await delay(POLL_INTERVAL_MS, undefined, { signal });
        if (stdout.destroyed || stdout.errored !== null) return 0;
        ({ lines, next } = await fetchLines(next));
      }
    },
    { gateway: 'any' },
  );
}

/** Keeps the indentation, which matters in stack traces. */
function sanitizeLogLine(text: string): string {
  return sanitize(text.replaceAll(/[\r\n]+/g, ' ')).trimEnd();
}

function printLines(lines: readonly AdminLogLine[], { out }: CliContext): void {
  const { dim, yellow } = out.paint;
  for (const { at, from, text } of lines) {
    const time = dim(new Date(at).toLocaleTimeString('sv'));
    out.line(`${time} ${from === 'gateway' ? yellow(toOneLine(text)) : sanitizeLogLine(text)}`);
  }
}
