import type { AdminToolDetail } from '../../admin/contract/contract.ts';
import { isJsonObject } from '../../model/json.ts';
import { GatewayError } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { AdHocOptions } from '../declare.ts';
import { harmless, inOneLine } from '../harmless.ts';
import { onLine } from '../line/on-line.ts';
import type { Work } from '../line/on-line.ts';
import { entryNamed } from './call/entry-named.ts';
import { foundTool } from './call/found-tool.ts';
import { parametersOf } from './call/parameters.ts';
import { tierPaint } from './tier.ts';

/** A tool and its parameters, required ones marked. */
export function describe(
  options: AdHocOptions,
  context: CliContext,
  words: readonly string[],
): Promise<ExitCode> {
  const { named, rest } = entryNamed(words, options);
  if (rest.length > 0)
    throw new GatewayError('USAGE', `"${rest.join(' ')}" is too much: give a tool, or a server and a tool.`);
  return onLine(options, context, async (line) => {
    const { out } = context;
    const answer = await out.during(`Looking for ${named.name}`, () =>
      foundTool(line, named, 'Give a tool, or a server and its own name of the tool.'),
    );
    if (out.style.format === 'json') out.json(answer.value);
    else print(answer.peek as AdminToolDetail, line, context);
    return 0;
  });
}

function print(tool: AdminToolDetail, { only }: Work, { out }: CliContext): void {
  const { tier, server, title, description, definition } = tool;
  const name = only === undefined ? tool.name : tool.original;
  const { bold, dim } = out.paint;
  const from = only === undefined ? `  ${dim(`of ${harmless(server)}`)}` : '';
  out.line(`${bold(harmless(name))}  ${tierPaint(tier, out.paint)(tier)}${from}`);
  if (title !== undefined) out.line(harmless(title));
  if (description !== undefined && description !== '') out.prose(`\n${harmless(description).trimEnd()}`);
  const parameters = parametersOf(definition['inputSchema']);
  out.line(parameters.length === 0 ? '\nNo parameters.' : `\n${bold('Parameters')}`);
  out.table(
    parameters.map((parameter) => [
      { text: `  ${parameter.name}`, paint: out.paint.cyan },
      inOneLine(parameter.type),
      { text: parameter.isRequired ? 'required' : '', paint: out.paint.yellow },
      inOneLine(parameter.about),
    ]),
    { last: 'wrap', drop: [1] },
  );
  if (isJsonObject(definition['outputSchema'])) out.line(`\n${dim('Answers with structured content.')}`);
  const example = parameters.filter(({ isRequired }) => isRequired).map((each) => `${each.name}=…`);
  out.line(`\n${dim(inOneLine(['trunkline call', name, ...example].join(' ')))}`);
}
