import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, describe, expect, test } from 'vitest';

import { loadConfig } from '../../../src/config/load-config.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

const root = resolve(import.meta.dirname, '..', '..', '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
/** Every file of the repository, relative to its root and with forward slashes; dependencies and build output are left out. */
const files = filesIn('');
const documents = files.filter((file) => file.endsWith('.md'));
/** Fenced blocks with the language `json` or `jsonc`: all of them are configurations, or members of one. */
const configExamples = documents.flatMap(configExamplesIn);
/** Folders whose paths are written from the root of the repository; a path such as `upstream/pool` starts in `src`. */
const topFolders = ['.github', 'bench', 'demo', 'deploy', 'docs', 'schema', 'scripts', 'src', 'test', 'web'];
const sourceFolders = readdirSync(join(root, 'src'));
/** Paths with a slash in `.gitignore`: they exist only after a build, a benchmark or a demo. */
const ignoredPaths = readFileSync(join(root, '.gitignore'), 'utf8')
  .split('\n')
  .filter((line) => line.replace(/\/$/, '').includes('/'));

/** The fenced block behind `<!-- run: NAME -->`, with its language. */
function block(name: string): string {
  const found = new RegExp(`<!-- run: ${name} -->\\n\`\`\`\\w*\\n([^]*?)\\n\`\`\``).exec(readme)?.[1];
  if (found === undefined) throw new Error(`README.md has no block "${name}".`);
  return found;
}

/** A console block, split into its command and its output. */
function consoleBlock(name: string): { readonly command: string; readonly output: string } {
  const lines = block(name).split('\n');
  const end = lines.findIndex(
    (line, at) => at > 0 && !line.startsWith('    ') && !line.startsWith('         '),
  );
  const command = lines.slice(0, end).join('\n').replace(/^\$ /, '');
  return { command, output: lines.slice(end).join('\n') };
}

describe('README examples', () => {
  const started = startDemo();
  afterAll(async () => (await started).stop());

  test('README: npm start prints the output shown', async () => {
    const { output, port } = await started;
    const { command, output: shown } = consoleBlock('npm start');
    expect(command).toBe('npm start');
    expect(output.replaceAll(String(port), '7332')).toContain(shown);
  });

  test('README: the example call returns the answer shown', async () => {
    const { port } = await started;
    const { command, output } = consoleBlock('curl');
    expect(await shell(command.replace('127.0.0.1:7332', `127.0.0.1:${port}`))).toBe(output);
  });

  test('README: the example search returns the answer shown', async () => {
    const { port } = await started;
    const { command } = consoleBlock('curl');
    const [, query] = /"([^"]+)" returns:\n\n<!-- run: search -->/.exec(readme) ?? [];
    const search = command
      .replace('127.0.0.1:7332', `127.0.0.1:${port}`)
      .replaceAll('call_read_tool', 'search_tools')
      .replace(/"arguments":\{.*\}\},\n/, `"arguments":{"query":"${query}"},\n`);
    const { result } = JSON.parse(await shell(search)) as { result: { content: { text: string }[] } };
    expect(result.content[0]?.text).toBe(block('search'));
  });

  test('README: trunkline search finds the tools shown', async () => {
    const { home } = await started;
    const [, query] = /"([^"]+)" returns:\n\n<!-- run: search -->/.exec(readme) ?? [];
    const search = `node dist/main.js search ${query} --json --config demo/trunkline.jsonc`;
    const hits = JSON.parse(await shell(`cd '${root}' && TRUNKLINE_HOME='${home}' ${search}`)) as {
      name: string;
    }[];
    const shown = [...block('search').matchAll(/^[\w-]+(?=\()/gm)].map(([name]) => name);
    expect(hits.map(({ name }) => name)).toEqual(shown);
  });

  test('README: the list of search tools costs the tokens shown', async () => {
    const { port } = await started;
    const { command } = consoleBlock('curl');
    const list = command
      .replace('127.0.0.1:7332', `127.0.0.1:${port}`)
      .replaceAll('tools/call', 'tools/list')
      .replace(" -H 'Mcp-Name: call_read_tool'", '')
      .replace(/"name":"call_read_tool",\s*"arguments":\{.*\}\},\n/, '');
    const { result } = JSON.parse(await shell(list)) as { result: { tools: { _meta?: unknown }[] } };
    // Clients do not pass `_meta` to the model.
    const tools = result.tools.map(({ _meta, ...tool }) => tool);
    const tokens = /\| the demo's 40 tools \| [\d,]+ \| (\d+) \|/.exec(readme)?.[1];
    expect(String(countTokens(JSON.stringify(tools)))).toBe(tokens);
  });
});

test('README: the example configuration loads without warnings', async () => {
  const file = join(temporaryFolder('readme'), 'trunkline.jsonc');
  writeFileSync(file, block('config'));
  const { value, warnings } = await loadConfig({ file, version: 'test' });
  expect(warnings).toEqual([]);
  expect(value.upstreams.map(({ name }) => name)).toEqual(['files', 'example']);
});

test.each(documents.filter((name) => linksIn(name).length > 0))(
  'links: every relative link in %s resolves',
  (name) => {
    expect(linksIn(name).filter((link) => !leadsSomewhere(join(root, name), link))).toEqual([]);
  },
);

test.each(configExamples)('config examples: $place loads without warnings', async ({ language, text }) => {
  if (language === 'json') expect(() => JSON.parse(text) as unknown).not.toThrow();
  const file = join(temporaryFolder('example'), 'trunkline.jsonc');
  writeFileSync(file, completeConfig(text));
  const { warnings } = await loadConfig({ file, version: 'test' });
  expect(warnings).toEqual([]);
});

test('config examples: all of them are found', () => {
  expect(configExamples.length).toBeGreaterThan(15);
  expect(new Set(configExamples.map(({ document }) => document)).size).toBeGreaterThan(8);
});

test('paths: every path in backticks in a Markdown file exists', () => {
  const cited = documents.flatMap((document) =>
    pathsIn(readFileSync(join(root, document), 'utf8')).map((path) => ({ document, path })),
  );
  expect(cited.length).toBeGreaterThan(300);
  const missing = cited.filter(({ path }) => !exists(path));
  expect(missing.map(({ document, path }) => `${document}: ${path}`)).toEqual([]);
});

test.each([
  ['`src/main.ts`', 'src/main.ts', true],
  ['`src/main`', 'src/main', true],
  ['`src/nowhere.ts`', 'src/nowhere.ts', false],
  ['`node scripts/build.mjs --force`', 'scripts/build.mjs', true],
  ['`config/load-config`', 'src/config/load-config', true],
  ['`config/nowhere`', 'src/config/nowhere', false],
  ['`src/**/*.test.ts`', 'src/**/*.test.ts', true],
  ['`docs/{fleet,nowhere-*}.md`', 'docs/{fleet,nowhere-*}.md', true],
  ['`src/nowhere-….ts`', 'src/nowhere-….ts', false],
])('paths: %s names the path %s, which exists: %s', (text, path, isThere) => {
  expect(pathsIn(text)).toEqual([path]);
  expect(exists(path)).toBe(isThere);
});

test.each([
  '`tools/list`',
  '`config`',
  '`https://example.com/src/main.ts`',
  'src/nowhere.ts',
  '```\n`src/x`\n```',
])('paths: %j names no path', (text) => {
  expect(pathsIn(text)).toEqual([]);
});

test('documentation index: links every page in docs', () => {
  const pages = readdirSync(join(root, 'docs')).filter(
    (name) => name.endsWith('.md') && name !== 'README.md',
  );
  const links = linksIn('docs/README.md');
  expect(pages.filter((page) => !links.includes(page))).toEqual([]);
});

test('vitest projects: every one that a Markdown file names exists', () => {
  const config = readFileSync(join(root, 'vitest.config.ts'), 'utf8');
  const projects = [...config.matchAll(/^ {10}name: '(\w+)',$/gm)].map(([, name = '']) => name);
  const named = documents.flatMap((document) =>
    [...readFileSync(join(root, document), 'utf8').matchAll(/--project[ =](\w+)/g)].map(
      ([, name = '']) => name,
    ),
  );
  expect(projects).toContain('unit');
  expect(named).toContain('system');
  expect(named.filter((name) => !projects.includes(name))).toEqual([]);
});

test('README: has fewer than 150 lines and shows npm start and npm test', () => {
  expect(readme.split('\n').length).toBeLessThan(150);
  expect(readme).toContain('npm start');
  expect(readme).toContain('npm test');
});

function filesIn(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (!entry.isDirectory()) return [path];
    return ['node_modules', 'dist', '.git'].includes(entry.name) ? [] : filesIn(path);
  });
}

function linksIn(document: string): readonly string[] {
  const text = readFileSync(join(root, document), 'utf8');
  return [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']) => link);
}

function configExamplesIn(document: string) {
  const page = readFileSync(join(root, document), 'utf8');
  return [...page.matchAll(/^```(jsonc?)\n([^]*?)\n```$/gm)].map(
    ({ index, 1: language = '', 2: text = '' }) => ({
      document,
      place: `${document}:${page.slice(0, index).split('\n').length}`,
      language,
      text,
    }),
  );
}

/** A block that shows only members becomes a configuration; profiles may name the server "files". */
function completeConfig(text: string): string {
  if (!/^\s*"/.test(text)) return text;
  return text.includes('"mcpServers"')
    ? `{${text}}`
    : `{"mcpServers": {"files": {"command": "node"}}, ${text}}`;
}

/** Paths of this repository in inline code, relative to its root; a code span may be a command that contains them. */
function pathsIn(markdown: string): readonly string[] {
  const prose = markdown.replaceAll(/^```[^]*?^```/gm, '');
  const words = [...prose.matchAll(/`([^`\n]+)`/g)].flatMap(([, code = '']) => code.split(/\s+/));
  return words.flatMap((word) => {
    const [first = '', ...rest] = word.split('/');
    if (rest.length === 0) return [];
    if (topFolders.includes(first)) return [word];
    return sourceFolders.includes(first) ? [`src/${word}`] : [];
  });
}

/** Whether a path exists, with or without its extension; `*`, `…` and `{a,b}` must match at least one file. */
function exists(path: string): boolean {
  if (ignoredPaths.some((ignored) => path === ignored || (ignored.endsWith('/') && path.startsWith(ignored))))
    return true;
  if (!/[*…{]/.test(path))
    return ['', '.ts', '.tsx', '.mjs'].some((end) => existsSync(join(root, path + end)));
  const pattern = path
    .replaceAll(/[.+?()[\]$^|]/g, String.raw`\$&`)
    .replaceAll('**/', '(?:.+/)?')
    .replaceAll(/(?<!\.)\*|…/g, '[^/]*')
    .replaceAll(/\{([^}]*)\}/g, (_, choices: string) => `(?:${choices.replaceAll(',', '|')})`);
  const expression = new RegExp(`^${pattern}(?:\\.tsx?|\\.mjs|/.*)?$`);
  return files.some((file) => expression.test(file));
}

function leadsSomewhere(document: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? document : resolve(dirname(document), path);
  if (!existsSync(target)) return false;
  if (anchor === undefined) return true;
  const headings = [...readFileSync(target, 'utf8').matchAll(/^#+ (.*)$/gm)].map((match) =>
    slug(match[1] ?? ''),
  );
  return headings.includes(anchor);
}

/** The anchor that common Markdown renderers create. */
function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function shell(command: string): Promise<string> {
  return new Promise((done, fail) => {
    const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let errors = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    child.on('close', (code) => (code === 0 ? done(out) : fail(new Error(`exit code ${code}: ${errors}`))));
  });
}

/** Runs `npm start`, but on a free port and with its own state folder. */
async function startDemo(): Promise<{
  output: string;
  port: number;
  home: string;
  stop(): Promise<void>;
}> {
  const home = temporaryFolder('demo');
  const child = spawn('npm', ['start', '--silent', '--', '--http', '127.0.0.1:0'], {
    cwd: root,
    env: { ...process.env, TRUNKLINE_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise<number | null>((done) => child.once('exit', done));
  let output = '';
  await new Promise<void>((done, fail) => {
    const take = (chunk: Buffer): void => {
      output += chunk.toString();
      if (/ tools from 3 servers:\n(?:.+\n){3}/.test(output)) done();
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.once('exit', () => fail(new Error(`npm start ended early:\n${output}`)));
  });
  const port = Number(/127\.0\.0\.1:(\d+)/.exec(output)?.[1]);
  return {
    output,
    port,
    home,
    async stop() {
      child.kill('SIGTERM');
      expect(await exited).toBe(0);
    },
  };
}
