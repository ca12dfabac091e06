import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { RotatingFile } from './rotating-file.ts';

function logPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rotating-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'logs', 'gateway.log');
}

test('log rotation: starts a new file at the size limit and deletes the oldest', () => {
  const path = logPath();
  const file = new RotatingFile(path, { maxBytes: 10, maxOldFiles: 2 });
  for (const line of ['first\n', 'second\n', 'third\n', 'fourth\n']) file.write(line);
  expect(readFileSync(path, 'utf8')).toBe('fourth\n');
  expect(readFileSync(`${path}.1`, 'utf8')).toBe('third\n');
  expect(readFileSync(`${path}.2`, 'utf8')).toBe('second\n');
  expect(existsSync(`${path}.3`)).toBe(false);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('log rotation: counts what an earlier process wrote', () => {
  const path = logPath();
  new RotatingFile(path, { maxBytes: 10, maxOldFiles: 1 }).write('before\n');
  new RotatingFile(path, { maxBytes: 10, maxOldFiles: 1 }).write('after\n');
  expect(readFileSync(path, 'utf8')).toBe('after\n');
  expect(readFileSync(`${path}.1`, 'utf8')).toBe('before\n');
});

test('log rotation: does not throw when the file cannot be written', () => {
  expect(() => new RotatingFile('/dev/null/gateway.log').write('x\n')).not.toThrow();
});
