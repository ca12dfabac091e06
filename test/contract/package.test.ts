import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { root } from './source-tree.ts';

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-package-'));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('the package', () => {
  test('contains the program, its schema and its documents', () => {
    const paths = pack('--dry-run').files.map((file) => file.path);
    for (const path of [
      'package.json',
      'dist/main.js',
      'dist/program.js',
      'dist/package.json',
      'dist/LICENSES.txt',
      'dist/code-worker.js',
      'dist/audit-worker.js',
      'dist/quickjs.wasm',
      'dist/guard.d.ts',
      'dist/web/index.html',
      'dist/web/icon.svg',
      'schema/config.schema.json',
      'README.md',
      'LICENSE',
    ]) {
      expect(paths).toContain(path);
    }
  });

  test('contains no tests, sources, source maps or demonstration', () => {
    const { files } = pack('--dry-run');
    const wanted = /^(dist\/|schema\/|package\.json$|[A-Z]+\.md$|LICENSE$)/;
    const unwanted = /\.test\.|(?<!\.d)\.ts$|\.map$|^demo\//;
    expect(
      files.map((file) => file.path).filter((path) => !wanted.test(path) || unwanted.test(path)),
    ).toEqual([]);
  });

  test('has an executable with a shebang', () => {
    const main = pack('--dry-run').files.find((file) => file.path === 'dist/main.js');
    expect((main?.mode ?? 0) & 0o111).toBe(0o111);
    expect(readFileSync(join(root, 'dist', 'main.js'), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  test('runs where nothing else is installed', { timeout: 180_000 }, () => {
    const { filename } = pack('--pack-destination', folder);
    const empty = join(folder, 'empty');
    mkdirSync(empty);
    writeFileSync(join(empty, 'package.json'), '{ "private": true }');
    npm(empty, ['install', '--prefer-offline', '--no-audit', '--no-fund', join(folder, filename)]);
    const trunkline = join(empty, 'node_modules', '.bin', 'trunkline');
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(run(trunkline, ['--version'], empty).trim()).toBe(version);
    expect(run(trunkline, ['--help'], empty)).toContain('serve');
    expect(ranCode(trunkline, empty, 'const a: number = 6;\nreturn a * 7')).toBe('42');
    // What is bundled is not installed as well.
    expect(() => run('ls', ['node_modules/sucrase'], empty)).toThrow('No such file');
  });
});

/** Without scripts: the build has been made, and a second one would disturb other tests. */
function pack(...args: readonly string[]): Packed {
  const [packed] = JSON.parse(npm(root, ['pack', '--json', '--ignore-scripts', ...args])) as [Packed];
  return packed;
}

/** What a script of `run_code` gives, in a client's words over standard input. */
function ranCode(trunkline: string, cwd: string, code: string): string {
  const config = join(cwd, 'config.jsonc');
  writeFileSync(config, '{ "mcpServers": {} }');
  const request = (id: number, method: string, params: object): string =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
  const hello = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  const input = `${request(1, 'initialize', hello)}${request(2, 'tools/call', { name: 'run_code', arguments: { code } })}`;
  const args = ['serve', '--standalone', '--expose', 'code', '--config', config];
  const env = { ...process.env, TRUNKLINE_HOME: join(cwd, 'home') };
  const output = execFileSync(trunkline, args, {
    cwd,
    env,
    input,
    encoding: 'utf8',
    stdio: 'pipe',
    timeout: 30_000,
  });
  const answers = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Answer);
  return answers.find(({ id }) => id === 2)?.result.content[0]?.text ?? output;
}

interface Answer {
  readonly id: number;
  readonly result: { readonly content: readonly { readonly text: string }[] };
}

function npm(cwd: string, args: readonly string[]): string {
  return run('npm', args, cwd);
}

function run(command: string, args: readonly string[], cwd: string): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
