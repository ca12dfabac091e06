import type { AdminToolDetail } from '../../admin/contract/contract.ts';
import { isJsonObject } from '../../core/json.ts';
import { quoteShellWord } from '../../core/lib/quote-shell-word.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { AdHocOptions } from '../declare.ts';
import { sanitize, toOneLine } from '../sanitize.ts';
import { withGateway } from '../gateway-client/with-gateway.ts';
import type { CommandConnection } from '../gateway-client/with-gateway.ts';
import { parseEntrySelection } from './call/entry-selection.ts';
import { fetchTool } from './call/fetch-tool.ts';
import { listParameters } from './call/parameters.ts';
import { selectTierPaint } from './select-tier-paint.ts';

/** Prints a tool and its parameters, the required ones first. */
export function runDescribe(
  options: AdHocOptions,
  context: CliContext,
  words: readonly string[],
): Promise<ExitCode> {
  const { entry, rest } = parseEntrySelection(words, options);
  if (rest.length > 0)
    throw new GatewayError(
      'USAGE',
      `Unexpected argument "${rest.join(' ')}". Give a tool, or a server and a tool.`,
    );
  return withGateway(options, context, async (gateway) => {
    const { out } = context;
    const answer = await out.withProgress(`Looking for ${entry.name}`, () =>
      fetchTool(
        gateway,
        entry,
        'Give the name of a tool, or a server followed by its own name for the tool.',
      ),
    );
    if (out.style.format === 'json') out.json(answer.value);
    else printTool(answer.peek as AdminToolDetail, gateway, context);
    return 0;
  });
}

function printTool(tool: AdminToolDetail, { onlyServer }: CommandConnection, { out }: CliContext): void {
  const { tier, server, title, description, definition } = tool;
  const name = onlyServer === undefined ? tool.name : tool.original;
  const { bold, dim } = out.paint;
  const from = onlyServer === undefined ? `  ${dim(`on ${toOneLine(server)}`)}` : '';
  out.line(`${bold(toOneLine(name))}  ${selectTierPaint(tier, out.paint)(tier)}${from}`);
  if (title !== undefined) out.line(toOneLine(title));
  if (description !== undefined && description !== '') out.prose(`\n${sanitize(description).trimEnd()}`);
  const parameters = listParameters(definition['inputSchema']);
  out.line(parameters.length === 0 ? '\nNo parameters.' : `\n${bold('Parameters')}`);
  out.table(
    parameters.map((parameter) => [
      { text: `  ${toOneLine(parameter.name)}`, paint: out.paint.cyan },
      toOneLine(parameter.type),
      { text: parameter.isRequired ? 'required' : '', paint: out.paint.yellow },
      toOneLine(parameter.description),
    ]),
    { lastColumn: 'wrap', dropOrder: [1] },
  );
  if (isJsonObject(definition['outputSchema'])) out.line(`\n${dim('Returns structured content.')}`);
  out.line(`\n${dim(formatExampleCall(name, parameters))}`);
}

/** Returns an example command. Users copy it into a shell, so names from the server are quoted. */
function formatExampleCall(name: string, parameters: ReturnType<typeof listParameters>): string {
  const required = parameters.filter(({ isRequired }) => isRequired);
  const words = required.map((parameter) => `${quoteShellWord(toOneLine(parameter.name))}=…`);
  return ['trunkline call', quoteShellWord(toOneLine(name)), ...words].join(' ');
}
