import { setTimeout as delay } from 'node:timers/promises';
import type { AdminLogLine } from '../../../admin/contract/contract.ts';
import type { ExitCode } from '../../../model/errors.ts';
import type { CliContext } from '../../context.ts';
import type { GlobalOptions } from '../../declare.ts';
import { harmless, inOneLine } from '../../harmless.ts';
import { onLine } from '../../line/on-line.ts';

interface ProcessLogOptions extends GlobalOptions {
  readonly limit?: number;
  readonly follow?: boolean;
}

const LINES = 50;
const MAX_LINES = 5000;
const LOOK_EVERY_MS = 300;

/** What the process of a server wrote to standard error, and what went wrong with it: the newest, or what comes. */
export function processLog(
  server: string,
  { config, limit = LINES, follow }: ProcessLogOptions,
  context: CliContext,
): Promise<ExitCode> {
  return onLine(
    { ...(config !== undefined && { config }) },
    context,
    async (line) => {
      const { out, stdout } = context;
      const { client, signal } = line;
      const ask = (from?: number) =>
        client.ask(
          'GET /api/servers/:name/log',
          {
            name: server,
            lines: from === undefined ? limit : MAX_LINES,
            ...(from !== undefined && { from }),
          },
          { signal },
        );
      const first = await ask();
      const { file } = first;
      let { lines, next } = first;
      if (follow !== true) {
        if (out.style.format === 'json') out.json({ server, file, lines });
        else if (lines.length === 0) out.line(`Nothing was logged of ${server}.`);
        else print(lines, context);
        return 0;
      }
      for (;;) {
        if (out.style.format === 'json') for (const each of lines) out.line(JSON.stringify(each));
        else print(lines, context);
        await delay(LOOK_EVERY_MS, undefined, { signal });
        if (stdout.destroyed || stdout.errored !== null) return 0;
        ({ lines, next } = await ask(next));
      }
    },
    { reach: 'any' },
  );
}

/** What is further to the right means something, as in a trace. */
function asWritten(text: string): string {
  return harmless(text.replaceAll(/[\r\n]+/g, ' ')).trimEnd();
}

function print(lines: readonly AdminLogLine[], { out }: CliContext): void {
  const { dim, yellow } = out.paint;
  for (const { at, from, text } of lines) {
    const time = dim(new Date(at).toLocaleTimeString('sv'));
    out.line(`${time} ${from === 'gateway' ? yellow(inOneLine(text)) : asWritten(text)}`);
  }
}
