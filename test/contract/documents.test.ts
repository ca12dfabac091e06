import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, describe, expect, test } from 'vitest';

import { loadConfig } from '../../src/config/load.ts';
import { checkLeaks } from '../support/leak-check.ts';
import { temporaryFolder } from '../support/test-run.ts';

checkLeaks();

const root = resolve(import.meta.dirname, '..', '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const documents = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

/** The fenced block behind `<!-- run: NAME -->`, with its language. */
function block(name: string): string {
  const found = new RegExp(`<!-- run: ${name} -->\\n\`\`\`\\w*\\n([^]*?)\\n\`\`\``).exec(readme)?.[1];
  if (found === undefined) throw new Error(`README.md has no block "${name}".`);
  return found;
}

/** A console block as its command and what it prints. */
function consoleBlock(name: string): { readonly command: string; readonly output: string } {
  const lines = block(name).split('\n');
  const end = lines.findIndex(
    (line, at) => at > 0 && !line.startsWith('    ') && !line.startsWith('         '),
  );
  const command = lines.slice(0, end).join('\n').replace(/^\$ /, '');
  return { command, output: lines.slice(end).join('\n') };
}

describe('the first minute of the README', () => {
  const started = startDemo();
  afterAll(async () => (await started).stop());

  test('npm start prints what is shown', async () => {
    const { output, port } = await started;
    const { command, output: shown } = consoleBlock('npm start');
    expect(command).toBe('npm start');
    expect(output.replaceAll(String(port), '7332')).toContain(shown);
  });

  test('the call that is shown gives the answer that is shown', async () => {
    const { port } = await started;
    const { command, output } = consoleBlock('curl');
    expect(await shell(command.replace('127.0.0.1:7332', `127.0.0.1:${port}`))).toBe(output);
  });

  test('the search that is shown gives the answer that is shown', async () => {
    const { port } = await started;
    const { command } = consoleBlock('curl');
    const [, query] = /"([^"]+)" answers\n\n<!-- run: search -->/.exec(readme) ?? [];
    const search = command
      .replace('127.0.0.1:7332', `127.0.0.1:${port}`)
      .replaceAll('call_read_tool', 'search_tools')
      .replace(/"arguments":\{.*\}\},\n/, `"arguments":{"query":"${query}"},\n`);
    const { result } = JSON.parse(await shell(search)) as { result: { content: { text: string }[] } };
    expect(result.content[0]?.text).toBe(block('search'));
  });

  test('a person who searches in a shell finds the same tools', async () => {
    const { home } = await started;
    const [, query] = /"([^"]+)" answers\n\n<!-- run: search -->/.exec(readme) ?? [];
    const search = `node dist/main.js search ${query} --json --config demo/trunkline.jsonc`;
    const hits = JSON.parse(await shell(`cd '${root}' && TRUNKLINE_HOME='${home}' ${search}`)) as {
      name: string;
    }[];
    const shown = [...block('search').matchAll(/^[\w-]+(?=\()/gm)].map(([name]) => name);
    expect(hits.map(({ name }) => name)).toEqual(shown);
  });

  test('the list that is searched instead costs what is shown', async () => {
    const { port } = await started;
    const { command } = consoleBlock('curl');
    const list = command
      .replace('127.0.0.1:7332', `127.0.0.1:${port}`)
      .replaceAll('tools/call', 'tools/list')
      .replace(" -H 'Mcp-Name: call_read_tool'", '')
      .replace(/"name":"call_read_tool",\s*"arguments":\{.*\}\},\n/, '');
    const { result } = JSON.parse(await shell(list)) as { result: { tools: unknown[] } };
    const tokens = /\| the demo's 40 tools \| [\d,]+ \| (\d+) \|/.exec(readme)?.[1];
    expect(String(countTokens(JSON.stringify(result.tools)))).toBe(tokens);
  });
});

test('the configuration of the README loads as it is', async () => {
  const file = join(temporaryFolder('readme'), 'trunkline.jsonc');
  writeFileSync(file, block('config'));
  const { value, warnings } = await loadConfig({ file, version: 'test' });
  expect(warnings).toEqual([]);
  expect(value.upstreams.map(({ name }) => name)).toEqual(['files', 'example']);
});

test.each(documents)('every link of %s leads somewhere', (name) => {
  const text = readFileSync(join(root, name), 'utf8');
  const links = [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map((match) => match[1] ?? '');
  const broken = links.filter((link) => !leadsSomewhere(join(root, name), link));
  expect(broken).toEqual([]);
});

test.each(documents)('the JSON that %s shows is JSON', (name) => {
  const text = readFileSync(join(root, name), 'utf8');
  for (const [, json] of text.matchAll(/```json\n([^]*?)\n```/g))
    expect(() => JSON.parse(json ?? '')).not.toThrow();
});

test('the README is short enough to be read and shows both commands', () => {
  expect(readme.split('\n').length).toBeLessThan(150);
  expect(readme).toContain('npm start');
  expect(readme).toContain('npm test');
});

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

/** As the usual renderers make them. */
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

/** `npm start` as a stranger runs it, but on a free port and with a state of its own. */
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
