// Writes the files that are made from src/config/schema.ts and src/cli/program.ts. With --check it writes nothing and names stale ones.

import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

export async function generate() {
  const schema = await readSchema();
  const example = readFileSync(join(root, 'docs', 'example.jsonc'), 'utf8').replaceAll('\r\n', '\n');
  return new Map([
    ['schema/config.schema.json', `${JSON.stringify(schema, null, 2)}\n`],
    ['docs/config.md', configPage(schema, example)],
    ['docs/cli.md', cliPage(await readProgram())],
  ]);
}

async function readSchema() {
  const { jsonSchema } = await importSource('src/config/schema.ts');
  return jsonSchema();
}

/** The program as commander knows it; what commands do is not loaded. */
async function readProgram() {
  const { buildProgram } = await importSource('src/cli/program.ts', { external: ['./commands/*'] });
  return buildProgram({ version: '' }, () => {});
}

async function importSource(entryPoint, options = {}) {
  const esbuild = await import('esbuild');
  const { outputFiles } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: [entryPoint],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // Bundled CommonJS asks for Node's own modules with `require`, which a module does not have.
    banner: {
      js: `import { createRequire } from 'node:module';\nconst require = createRequire(${JSON.stringify(import.meta.url)});`,
    },
    logLevel: 'warning',
    ...options,
  });
  const source = Buffer.from(outputFiles[0].contents).toString('base64');
  return import(`data:text/javascript;base64,${source}`);
}

function cliPage(program) {
  const name = program.name();
  return `${[
    '<!-- Made by scripts/generate.mjs from src/cli/program.ts. Do not edit. -->',
    '# Commands',
    commands,
    `## ${name}`,
    helpScreen(program),
    ...program.commands.flatMap((command) => [`## ${name} ${command.name()}`, helpScreen(command)]),
  ].join('\n\n')}\n`;
}

/** As it is printed where standard output is no terminal. */
function helpScreen(command) {
  const { showGlobalOptions } = command.createHelp();
  command.configureHelp({ showGlobalOptions, helpWidth: 80 });
  return `\`\`\`text\n${command.helpInformation().trimEnd()}\n\`\`\``;
}

function configPage(schema, example) {
  const { mcpServers, ...settings } = schema.properties;
  const { sections, plain } = split(settings);
  const server = split(mcpServers.additionalProperties.properties);
  return `${[
    '<!-- Made by scripts/generate.mjs from src/config/schema.ts. Do not edit. -->',
    '# Configuration',
    introduction,
    '## Servers',
    `${mcpServers.description} Key: \`mcpServers\`. ${mcpServers.additionalProperties.description}`,
    'A name is any text of 1 to 128 characters without control characters.',
    table([
      ...Object.entries(server.plain),
      ...server.sections.flatMap(([name, section]) => qualified(name, section)),
    ]),
    '## Everything else',
    table(Object.entries(plain)),
    ...sections.flatMap(([name, section]) => [
      `### \`${name}\``,
      section.description,
      table(qualified(name, section)),
    ]),
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

Standard output belongs to results: MCP messages of \`serve\`, the text of \`--help\` and \`--version\`. Everything else goes to standard error. A wrong command line ends with exit code
2; [Errors](errors.md) has all exit codes. \`--help\` and \`--version\` read no configuration, so they work whatever is wrong with it.`;

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
2. the file that the environment variable \`TRUNKLINE_CONFIG\` names;
3. \`trunkline.jsonc\` in the current folder. Since it can start programs, it is used only after
   \`trunkline trust trunkline.jsonc\`, and after every change again;
4. your own:

| system | configuration | state |
|---|---|---|
| Linux | \`$XDG_CONFIG_HOME/trunkline/config.jsonc\`, usually in \`~/.config\` | \`$XDG_STATE_HOME/trunkline\`, usually in \`~/.local/state\` |
| macOS | \`~/Library/Application Support/trunkline/config.jsonc\` | \`state\` beside it |
| Windows | \`%APPDATA%\\trunkline\\config.jsonc\` | \`%LOCALAPPDATA%\\trunkline\\state\` |
| all, with \`TRUNKLINE_HOME\` set | \`$TRUNKLINE_HOME/config.jsonc\` | \`$TRUNKLINE_HOME/state\` |

Your own is created with examples in comments when it does not exist.

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
