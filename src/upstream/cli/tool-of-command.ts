import type { JsonObject } from '../../model/json.ts';
import type { CliArgument, CliCommand, CliOption, CliStyle, CliValue } from './cli-command.ts';
import type { ProgramName } from './program-name.ts';

/** A tool with what each of its parameters becomes on the command line. */
export interface CliTool {
  readonly definition: JsonObject & { readonly name: string };
  /** Behind the program. */
  readonly words: readonly string[];
  readonly options: readonly (readonly [string, CliOption])[];
  readonly arguments: readonly (readonly [string, CliArgument])[];
  /** What the first argument must not be, since it would be a command of its own. */
  readonly children: readonly string[];
  readonly style: CliStyle;
}

const MAX_NAME = 64;

/** The tools of a program's commands; names are unique, and the same for the same commands. */
export function toolsOf(
  program: ProgramName,
  args: readonly string[],
  commands: readonly CliCommand[],
): readonly CliTool[] {
  const taken = new Set<string>();
  return commands.map((command) => {
    const name = unique(toolName(program.name, command.path), taken);
    taken.add(name);
    return toolOf({ name, program, command, args });
  });
}

function toolName(program: string, path: readonly string[]): string {
  const words = path.length === 0 ? [program] : path;
  const name = words
    .join('_')
    .replaceAll(/[^A-Za-z0-9_]+/g, '_')
    .slice(0, MAX_NAME);
  return name.replaceAll(/^_+|_+$/g, '') || 'run';
}

function unique(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let count = 2; ; count++) if (!taken.has(`${name}_${count}`)) return `${name}_${count}`;
}

function toolOf(parts: {
  readonly name: string;
  readonly program: ProgramName;
  readonly command: CliCommand;
  readonly args: readonly string[];
}): CliTool {
  const { name, program, command, args } = parts;
  const title = [program.name, ...program.words, ...command.path].join(' ');
  const taken = new Set<string>();
  const claim = (wanted: string): string => {
    const key = unique(wanted, taken);
    taken.add(key);
    return key;
  };
  const positional = command.arguments.map((argument) => [claim(argument.name), argument] as const);
  const options = command.options.map((option) => [claim(optionName(option.flag)), option] as const);
  const summary = command.summary === '' ? '' : `${command.summary.replace(/[.:]?$/, '.')} `;
  return finishedTool({
    name,
    title,
    description: `${summary}Command line: ${title}`,
    words: [...args, ...command.path],
    options,
    arguments: positional,
    required: positional.filter(([, { isRequired }]) => isRequired).map(([key]) => key),
    children: command.children,
    style: command.style,
    reads: isReading(command, program.name),
  });
}

/** The definition that clients see, beside what the command line is made from. */
export function finishedTool(
  parts: Omit<CliTool, 'definition'> & {
    readonly name: string;
    readonly title: string;
    readonly description: string;
    readonly required: readonly string[];
    /** Absent where its name and description decide. */
    readonly reads?: boolean | undefined;
  },
): CliTool {
  const { name, title, description, required, reads, ...rest } = parts;
  const properties: JsonObject = Object.fromEntries<JsonObject>([
    ...parts.arguments.map(([key, argument]) => [key, argumentSchema(argument)] as const),
    ...parts.options.map(([key, option]) => [key, optionSchema(option)] as const),
  ]);
  return {
    ...rest,
    definition: {
      name,
      title,
      description,
      inputSchema: {
        type: 'object',
        properties,
        ...(required.length > 0 && { required }),
        additionalProperties: false,
      },
      ...(reads !== undefined && { annotations: { readOnlyHint: reads } }),
    },
  };
}

/** Case tells `-l` from `-L`. */
function optionName(flag: string): string {
  return flag.replace(/^-+/, '').replaceAll(/[^A-Za-z0-9]+/g, '_') || 'flag';
}

function argumentSchema({ value, repeats, description }: CliArgument): JsonObject {
  const schema = valueSchema(value);
  return described(repeats ? { type: 'array', items: schema } : schema, description);
}

function optionSchema({ value, repeats, flag, isOptional, description }: CliOption): JsonObject {
  const text = description === '' ? flag : `${flag}: ${description}`;
  if (value === undefined) return described({ type: 'boolean' }, text);
  const schema = valueSchema(value);
  if (isOptional === true && repeats === undefined)
    return described(orTrue(schema), `${text}${/[.;]$/.test(text) ? '' : ';'} true gives it without a value`);
  return described(repeats === undefined ? schema : { type: 'array', items: schema }, text);
}

function valueSchema({ type, choices }: CliValue): JsonObject {
  return choices === undefined ? { type } : { type, enum: choices };
}

function orTrue({ type, enum: choices, ...rest }: JsonObject): JsonObject {
  const both = { ...rest, type: [type, 'boolean'] };
  return Array.isArray(choices) ? { ...both, enum: [...(choices as readonly unknown[]), true, false] } : both;
}

function described(schema: JsonObject, description: string): JsonObject {
  return description === '' ? schema : { ...schema, description };
}

const READING = new Set(
  'get list ls show describe view status search info inspect history whoami explain ps version logs log'.split(
    ' ',
  ),
);
const CHANGING_FLAG =
  /^--?(?:[a-z-]*-)?(?:delete|remove|rm|write|force|fix|edit|set|add|apply|prune|save|replace|update|create|output-file|exec)(?:-|$)/;
const CHANGING_TEXT =
  /\b(?:create|update|delete|remove|modif|edit|write|overwrite|replace|install|add|set|start|stop|run|execute|apply|append|send|record)(?:s|es|y|ies)?\b/i;

/** Verbs that read elsewhere and change something here, or that do whatever they are told. */
const AMBIGUOUS = new Set(['fetch', 'find', 'retrieve', 'get-deps']);

/** Only verbs that cannot mean anything else, and nothing around them that says otherwise. */
function isReading({ path, summary, options }: CliCommand, program: string): boolean | undefined {
  const verb = (path.at(-1) ?? program).toLowerCase();
  if (AMBIGUOUS.has(verb) || options.some(({ flag }) => CHANGING_FLAG.test(flag))) return false;
  const isVerb = READING.has(verb) || /^(?:get|list|show|describe)-[a-z-]+$/.test(verb);
  return isVerb && !CHANGING_TEXT.test(summary) ? true : undefined;
}
