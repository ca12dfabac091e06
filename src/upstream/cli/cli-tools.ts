import type { JsonObject } from '../../core/json.ts';
import type { CliArgument, CliCommand, CliOption, CliStyle, CliValue } from './cli-command.ts';
import type { ProgramName } from './program-name.ts';

/** A tool, and how its parameters form a command line. */
export interface CliTool {
  readonly definition: JsonObject & { readonly name: string };
  /** The fixed words after the program: configured arguments and the subcommand. */
  readonly words: readonly string[];
  readonly options: readonly (readonly [string, CliOption])[];
  readonly arguments: readonly (readonly [string, CliArgument])[];
  /** Names that the first argument must not have, because they are subcommands. */
  readonly children: readonly string[];
  readonly style: CliStyle;
}

const MAX_NAME = 64;

/** Creates the tools of a program's commands. The names are unique and depend only on the commands. */
export function createCliTools(
  program: ProgramName,
  args: readonly string[],
  commands: readonly CliCommand[],
): readonly CliTool[] {
  const usedNames = new Set<string>();
  return commands.map((command) => {
    const name = makeUnique(toolName(program.name, command.path), usedNames);
    usedNames.add(name);
    return createCommandTool({ name, program, command, args });
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

function makeUnique(name: string, used: ReadonlySet<string>): string {
  if (!used.has(name)) return name;
  for (let count = 2; ; count++) if (!used.has(`${name}_${count}`)) return `${name}_${count}`;
}

function createCommandTool(parts: {
  readonly name: string;
  readonly program: ProgramName;
  readonly command: CliCommand;
  readonly args: readonly string[];
}): CliTool {
  const { name, program, command, args } = parts;
  const title = [program.name, ...program.words, ...command.path].join(' ');
  const usedKeys = new Set<string>();
  const claimKey = (preferred: string): string => {
    const key = makeUnique(preferred, usedKeys);
    usedKeys.add(key);
    return key;
  };
  const positional = command.arguments.map((argument) => [claimKey(argument.name), argument] as const);
  const options = command.options.map((option) => [claimKey(optionName(option.flag)), option] as const);
  const summary = command.summary === '' ? '' : `${command.summary.replace(/[.:]?$/, '.')} `;
  return createCliTool({
    name,
    title,
    description: `${summary}Command line: ${title}`,
    words: [...args, ...command.path],
    options,
    arguments: positional,
    required: positional.filter(([, { isRequired }]) => isRequired).map(([key]) => key),
    children: command.children,
    style: command.style,
    isReadOnly: isReadOnly(command, program.name),
  });
}

/** Creates a tool with the definition that clients see. */
export function createCliTool(
  parts: Omit<CliTool, 'definition'> & {
    readonly name: string;
    readonly title: string;
    readonly description: string;
    readonly required: readonly string[];
    /** Absent if unknown. The name and the description of the tool then determine its tier. */
    readonly isReadOnly?: boolean | undefined;
  },
): CliTool {
  const { name, title, description, required, isReadOnly: readOnlyHint, ...rest } = parts;
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
        required: required.length > 0 ? required : undefined,
        additionalProperties: false,
      },
      annotations: readOnlyHint === undefined ? undefined : { readOnlyHint },
    },
  };
}

/** Returns the parameter name of a flag. Keeps the case, which distinguishes `-l` from `-L`. */
function optionName(flag: string): string {
  return flag.replace(/^-+/, '').replaceAll(/[^A-Za-z0-9]+/g, '_') || 'flag';
}

function argumentSchema({ value, repeats, description }: CliArgument): JsonObject {
  const schema = valueSchema(value);
  return withDescription(repeats ? { type: 'array', items: schema } : schema, description);
}

function optionSchema({ value, repeats, flag, isOptional, description }: CliOption): JsonObject {
  const text = description === '' ? flag : `${flag}: ${description}`;
  if (value === undefined) return withDescription({ type: 'boolean' }, text);
  const schema = valueSchema(value);
  if (isOptional === true && repeats === undefined)
    return withDescription(
      allowTrue(schema),
      `${text}${/[.;]$/.test(text) ? '' : ';'} true sets the flag without a value`,
    );
  return withDescription(repeats === undefined ? schema : { type: 'array', items: schema }, text);
}

function valueSchema({ type, choices }: CliValue): JsonObject {
  return choices === undefined ? { type } : { type, enum: choices };
}

function allowTrue({ type, enum: choices, ...rest }: JsonObject): JsonObject {
  const both = { ...rest, type: [type, 'boolean'] };
  return Array.isArray(choices) ? { ...both, enum: [...(choices as readonly unknown[]), true, false] } : both;
}

function withDescription(schema: JsonObject, description: string): JsonObject {
  return description === '' ? schema : { ...schema, description };
}

const READ_VERBS = new Set(
  'get list ls show describe view status search info inspect history whoami explain ps version logs log'.split(
    ' ',
  ),
);
const WRITE_FLAG =
  /^--?(?:[a-z-]*-)?(?:delete|remove|rm|write|force|fix|edit|set|add|apply|prune|save|replace|update|create|output-file|exec)(?:-|$)/;
const WRITE_TEXT =
  /\b(?:create|update|delete|remove|modif|edit|write|overwrite|replace|install|add|set|start|stop|run|execute|apply|append|send|record)(?:s|es|y|ies)?\b/i;

/** Verbs that only read in some programs and change something in others. */
const AMBIGUOUS_VERBS = new Set(['fetch', 'find', 'retrieve', 'get-deps']);

/**
 * Returns true if the verb reads and neither the options nor the summary indicate a change. Returns false for ambiguous verbs and for
 * options that write, and undefined in all other cases.
 */
function isReadOnly({ path, summary, options }: CliCommand, program: string): boolean | undefined {
  const verb = (path.at(-1) ?? program).toLowerCase();
  if (AMBIGUOUS_VERBS.has(verb) || options.some(({ flag }) => WRITE_FLAG.test(flag))) return false;
  const isVerb = READ_VERBS.has(verb) || /^(?:get|list|show|describe)-[a-z-]+$/.test(verb);
  return isVerb && !WRITE_TEXT.test(summary) ? true : undefined;
}
