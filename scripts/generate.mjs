// Writes the files that are made from src/config/schema/schema.ts, src/cli/program.ts and src/admin/contract/contract.ts. With --check it writes nothing and names stale ones.

import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { openapi } from './openapi.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

export async function generate() {
  const schema = await readSchema();
  const example = readFileSync(join(root, 'docs', 'example.jsonc'), 'utf8').replaceAll('\r\n', '\n');
  return new Map([
    ['schema/config.schema.json', `${JSON.stringify(schema, null, 2)}\n`],
    ['schema/openapi.json', `${JSON.stringify(await openapi(), null, 2)}\n`],
    ['docs/config.md', configPage(schema, example)],
    ['docs/cli.md', cliPage(await readProgram())],
  ]);
}

async function readSchema() {
  const { jsonSchema } = await importSource('src/config/schema/schema.ts');
  return jsonSchema();
}

/** The program as commander knows it; what commands do is not loaded. */
async function readProgram() {
  const { buildProgram } = await importSource('src/cli/program.ts', (id) => id.includes('/commands/'));
  return buildProgram({ version: '' }, () => {});
}

/** Beside node_modules, so that packages are found. */
async function importSource(input, isExternal = () => false) {
  const { build } = await import('rolldown');
  const file = join(root, '.stamp', 'generate', `${basename(input, '.ts')}.mjs`);
  await build({
    input: join(root, input),
    platform: 'node',
    external: (id) => /^(?!@oxc-project\/)[^./]/.test(id) || isExternal(id),
    transform: { target: 'node20' },
    output: { file, codeSplitting: false },
  });
  return import(`${pathToFileURL(file).href}?${Date.now()}`);
}

function cliPage(program) {
  const name = program.name();
  return `${[
    '<!-- Made by scripts/generate.mjs from src/cli/program.ts. Do not edit. -->',
    '# Commands',
    commands,
    `## ${name}`,
    helpScreen(program),
    ...program.commands.flatMap((command) => commandSections(command, name)),
  ].join('\n\n')}\n`;
}

function commandSections(command, parent) {
  if (command.name().startsWith('__')) return []; // For programs, not for people.
  const name = `${parent} ${command.name()}`;
  return [
    `## ${name}`,
    helpScreen(command),
    ...command.commands.flatMap((each) => commandSections(each, name)),
  ];
}

/** As it is printed where standard output is no terminal. */
function helpScreen(command) {
  command.configureHelp({ ...command.configureHelp(), helpWidth: 80 });
  return `\`\`\`text\n${command.helpInformation().trimEnd()}\n\`\`\``;
}

function configPage(schema, example) {
  const { mcpServers, ...settings } = schema.properties;
  const { sections, plain } = split(settings);
  const server = split(mcpServers.additionalProperties.properties);
  return `${[
    '<!-- Made by scripts/generate.mjs from src/config/schema/schema.ts. Do not edit. -->',
    '# Configuration',
    introduction,
    '## Servers',
    `${mcpServers.description} Key: \`mcpServers\`. ${mcpServers.additionalProperties.description}`,
    'A name is any text of 1 to 128 characters without control characters.',
    table([
      ...Object.entries(server.plain),
      ...server.sections.flatMap(([name, section]) => qualified(name, section)),
    ]),
    ...objectKinds(server.plain),
    '## Everything else',
    table(Object.entries(plain)),
    ...sections.flatMap(([name, section]) => [
      `### \`${name}\``,
      section.description,
      table(qualified(name, section)),
      ...Object.entries(section.properties).flatMap(([key, schema]) => elements(`${name}.${key}`, schema)),
    ]),
    ...Object.entries(plain).flatMap(([name, schema]) => elements(name, schema)),
    references,
    pasted,
    problems,
    '## Example with every key',
    'This is [example.jsonc](example.jsonc).',
    `\`\`\`jsonc\n${example}\`\`\``,
  ].join('\n\n')}\n`;
}

/** Objects with keys of their own get a table of their own. */
function split(properties) {
  const isSection = ([, schema]) => schema.properties !== undefined;
  const entries = Object.entries(properties);
  return {
    sections: entries.filter(isSection),
    plain: Object.fromEntries(entries.filter((entry) => !isSection(entry))),
  };
}

/** Lists and maps of objects are explained by what one of them has. */
function elements(name, schema) {
  const [suffix, element] =
    schema.items === undefined ? ['.NAME', schema.additionalProperties] : ['[]', schema.items];
  if (element?.properties === undefined) return [];
  return [`### \`${name}${suffix}\``, schema.description, table(Object.entries(element.properties))];
}

/** Keys of a server that take something simple or an object. */
function objectKinds(properties) {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const section = schema.anyOf?.find((kind) => kind.properties !== undefined);
    if (section === undefined) return [];
    return [
      `### \`${name}\``,
      section.description,
      table(qualified(name, section)),
      ...Object.entries(section.properties).flatMap(([key, inner]) => elementsBelow(`${name}.${key}`, inner)),
    ];
  });
}

/** Also the elements of elements. */
function elementsBelow(name, schema) {
  const element = schema.items ?? schema.additionalProperties;
  const below = Object.entries(element?.properties ?? {});
  const suffix = schema.items === undefined ? '.NAME' : '[]';
  return [
    ...elements(name, schema),
    ...below.flatMap(([key, inner]) => elementsBelow(`${name}${suffix}.${key}`, inner)),
  ];
}

function qualified(name, section) {
  return Object.entries(section.properties).map(([key, schema]) => [`${name}.${key}`, schema]);
}

function table(entries) {
  const rows = entries.map(([key, schema]) => {
    const fallback = schema.default === undefined ? '' : `\`${JSON.stringify(schema.default)}\``;
    const cells = [`\`${key}\``, typeOf(schema), fallback, schema.description];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return ['| key | type | default | meaning |', '|---|---|---|---|', ...rows].join('\n');
}

function typeOf(schema) {
  if (schema.title !== undefined) return schema.title;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`"${value}"\``).join(', ');
  if (schema.const !== undefined) return `\`"${schema.const}"\``;
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' or ');
  if (schema.type === 'array') return `list of ${typeOf(schema.items)}s`;
  if (schema.properties !== undefined) return 'object';
  if (schema.type === 'object') return `object of ${typeOf(schema.additionalProperties)}s`;
  return { string: 'text', integer: 'whole number' }[schema.type] ?? schema.type;
}

const commands = `\
Options may stand before or after the command, so these are the same:

\`\`\`
trunkline --config gateway.jsonc serve
trunkline serve --config gateway.jsonc
\`\`\`

An option with \`env:\` behind it can be given as that environment variable instead; the command line wins. \`TRUNKLINE_HOME\` moves configuration and state elsewhere. Which
configuration is used, and what can be in it, is in [Configuration](config.md).

Standard output belongs to results: what a command was asked for, the MCP messages of \`serve\`, the text of \`--help\` and \`--version\`. Everything else goes to standard error. A wrong
command line ends with exit code 2; [Errors](errors.md) has all exit codes. \`--help\` and \`--version\` read no configuration, so they work whatever is wrong with it.

## Text and JSON

On a terminal results are text: aligned tables, coloured unless \`NO_COLOR\` is set or \`--color never\` is given (\`FORCE_COLOR\` and \`--color always\` colour in a pipe too), and
whatever takes longer than half a second says on standard error how far it is: in a line that moves, or in lines that stay where \`TERM\` is \`dumb\` or \`--progress lines\` asks
for them, as people with a screen reader do. Sentences are broken between words, commands and names that one copies are not. In a pipe results are JSON. \`--json\` and \`--text\` ask for either; with \`--json\` problems are
JSON too, one line each on standard error. Text of servers cannot control your terminal: what could is left out.

\`read\` is the exception: a resource is a document, so a pipe gets its content as it is. No command waits for an answer that nobody can give: without a terminal a question is an
error that names the option to use.

## Arguments of a call

\`\`\`
trunkline call everything__get-sum '{"a": 2, "b": 3}'     a JSON object
trunkline call everything__get-sum a=2 b=3                text, read as the schema of the tool says
trunkline call everything get-sum a:=2 b:=3               JSON; the server and its own name of the tool
trunkline call everything__get-sum @numbers.json b=3      a file; what comes later wins
echo '{"a": 2, "b": 3}' | trunkline call everything__get-sum
trunkline call get-sum a=2 b=3 -- npx -y @modelcontextprotocol/server-everything
trunkline tools --url http://127.0.0.1:3000/mcp
\`\`\`

A key that is repeated makes a list where the schema has one. Arguments are checked against the schema before the server is started, when it was listed before. \`-\` reads standard
input; without any arguments a pipe is read as well, so give \`{}\` in scripts that have an open standard input and nothing to say.

A tool that reports an error makes exit code 8. Ctrl-C cancels the call at the server and makes exit code 130, as it
does with everything that has an answer to give, \`logs -f\` too; \`serve\`, \`wrap\` and \`tray\` run until somebody ends them, and end with 0 then.

Lists and searches of all servers start those that were never listed. Where others are known, they wait five seconds for them and say what is left out; \`trunkline tools SERVER\` and
\`trunkline refresh SERVER\` wait for that server as long as \`startup.refresh\` says.

## Completion

\`eval "$(trunkline completions bash)"\`, the same for zsh, or \`trunkline completions fish | source\`: commands, options, servers, tools and their parameters, from what
was listed last. Nothing is started for it.`;

const introduction = `\
One file, JSON with comments and trailing commas. The least that works:

\`\`\`jsonc
{
  "mcpServers": {
    "time": { "command": "uvx", "args": ["mcp-server-time"] }
  }
}
\`\`\`

One file is used, the first of these:

1. \`--config FILE\`, before or after the command;
2. no file, but the text in the environment variable \`TRUNKLINE_CONFIG_JSON\`, for containers and CI: it is checked like a file, cannot be
   changed by commands, and relative paths in it begin in the current folder;
3. the file that the environment variable \`TRUNKLINE_CONFIG\` names;
4. \`trunkline.jsonc\` in the current folder. Since it can start programs, it is used only after
   \`trunkline trust trunkline.jsonc\`, and after every change again;
5. your own:

| system | configuration | state |
|---|---|---|
| Linux | \`$XDG_CONFIG_HOME/trunkline/config.jsonc\`, usually in \`~/.config\` | \`$XDG_STATE_HOME/trunkline\`, usually in \`~/.local/state\` |
| macOS | \`~/Library/Application Support/trunkline/config.jsonc\` | \`state\` beside it |
| Windows | \`%APPDATA%\\trunkline\\config.jsonc\` | \`%LOCALAPPDATA%\\trunkline\\state\` |
| all, with \`TRUNKLINE_HOME\` set | \`$TRUNKLINE_HOME/config.jsonc\` | \`$TRUNKLINE_HOME/state\` |

Your own is created with examples in comments when it does not exist. \`trunkline config path\` says which one is used.

Editors complete and check the file when it begins with \`"$schema"\` and the address of
[config.schema.json](../schema/config.schema.json).

A **duration** is a text such as \`"500ms"\`, \`"30s"\`, \`"5m"\` or \`"1h"\`, or a number of milliseconds.`;

const references = `\
## References

Secrets do not belong into the file. These stand for values that are elsewhere, in \`command\`, \`args\`, \`env\`, \`envFile\`,
\`cwd\`, \`url\`, \`headers\` and \`authorizationToken\`:

| written | means |
|---|---|
| \`\${env:NAME}\` or \`\${NAME}\` | the environment variable |
| \`\${NAME:-default}\` | the environment variable, or \`default\` when it is unset or empty |
| \`\${file:path}\` | the content of a file without the line break at its end; relative to this file, \`~\` is your home |
| \`\${keychain:name}\` | reserved for the system's keychain; not available yet |
| \`$\${\` | the two characters \`\${\` |

They are looked up each time a server is started or connected. A value goes in as it is, quotes, dollar signs and line breaks included, and is
never looked at again. A variable that is unset or empty is an error that names the server and the field; \`\${NAME:-}\` allows it to be empty.

An \`envFile\` has lines \`KEY=VALUE\`, with or without \`export\`, with \`#\` comments; values may be in single quotes (as they are) or
double quotes (with \`\\n\`, \`\\t\`, \`\\"\`, \`\\\\\`). References in it are not looked up.`;

const pasted = `\
## Pasted from another client

Entries that Claude, Cursor, VS Code, Windsurf or Cline keep under \`mcpServers\` (VS Code: under \`servers\`) go in unchanged. What they write in words of
their own is understood: \`disabled\`, \`timeout\`, \`serverUrl\`, \`authorizationToken\`, \`envFile\` and every \`type\`; \`autoApprove\` and \`alwaysAllow\` are
kept and not obeyed. What stands for something inside an editor, such as \`\${input:…}\` and \`\${workspaceFolder}\`, has no meaning here; use \`\${env:NAME}\`
or a path.`;

const problems = `\
## When something is wrong

An unknown key is an error, with the key that was probably meant. A server entry with an error is left out and reported with file, line and column; the
other servers are not affected. An error anywhere else in the file stops the start. A server that is written twice counts once, as it is written last, and is
reported.`;

async function main() {
  const isCheck = process.argv.includes('--check');
  const stale = [];
  for (const [name, text] of await generate()) {
    const path = join(root, name);
    if (read(path) === text) continue;
    stale.push(name);
    if (isCheck) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  if (stale.length === 0) console.log('generate: everything is up to date');
  else if (!isCheck) console.log(`generate: wrote ${stale.join(', ')}`);
  else {
    console.error(`generate: stale: ${stale.join(', ')}. Run \`node scripts/generate.mjs\`.`);
    process.exitCode = 1;
  }
}

function read(path) {
  try {
    return readFileSync(path, 'utf8').replaceAll('\r\n', '\n');
  } catch {
    return undefined; // Not there yet: stale.
  }
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) await main();
