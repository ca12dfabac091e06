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
let packed: Packed;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-package-'));
  packed = pack('--dry-run');
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('npm package', () => {
  test('npm package: contains the program, its schema and its documents', { tags: ['slow'] }, () => {
    const paths = packed.files.map((file) => file.path);
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

  test('npm package: contains no tests, sources, source maps or demo', { tags: ['slow'] }, () => {
    const { files } = packed;
    const wanted = /^(dist\/|schema\/|package\.json$|[A-Z]+\.md$|LICENSE$)/;
    const unwanted = /\.test\.|(?<!\.d)\.ts$|\.map$|^demo\//;
    expect(
      files.map((file) => file.path).filter((path) => !wanted.test(path) || unwanted.test(path)),
    ).toEqual([]);
  });

  test('npm package: has an executable with a shebang', { tags: ['slow'] }, () => {
    const main = packed.files.find((file) => file.path === 'dist/main.js');
    expect((main?.mode ?? 0) & 0o111).toBe(0o111);
    expect(readFileSync(join(root, 'dist', 'main.js'), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  test('npm package: installs and runs in an empty folder', { tags: ['slow'] }, () => {
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
    // Bundled packages are not installed again.
    expect(() => run('ls', ['node_modules/sucrase'], empty)).toThrow('No such file');
  });
});

/** Runs no scripts: the build exists, and a second build would disturb other tests. */
function pack(...args: readonly string[]): Packed {
  const [one] = JSON.parse(npm(root, ['pack', '--json', '--ignore-scripts', ...args])) as [Packed];
  return one;
}

/** The result of a `run_code` call, sent by a client over standard input. */
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
