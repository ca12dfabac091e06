import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

import { SiteFiles } from './site-files.ts';

function site(): SiteFiles {
  const folder = mkdtempSync(join(tmpdir(), 'site-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'web', 'assets'), { recursive: true });
  writeFileSync(join(folder, 'secret.txt'), 'secret');
  writeFileSync(join(folder, 'web', 'index.html'), '<!doctype html>');
  writeFileSync(join(folder, 'web', 'assets', 'app-1234.js'), 'run()');
  return new SiteFiles(pathToFileURL(join(folder, 'web/')));
}

function header(headers: readonly string[] | undefined, name: string): string | undefined {
  return headers?.[headers.indexOf(name) + 1];
}

test('site files: serves every dashboard route as index.html with no-cache and a strict CSP', () => {
  const files = site();
  for (const path of ['/', '/servers', '/servers/a.b', '/access', '/activity']) {
    const file = files.get(path);
    expect(file?.body.toString(), path).toBe('<!doctype html>');
    expect(header(file?.headers, 'Cache-Control')).toBe('no-cache');
    expect(header(file?.headers, 'Content-Security-Policy')).toMatch(
      /^default-src 'none'; script-src 'self'; /,
    );
    expect(header(file?.headers, 'X-Content-Type-Options')).toBe('nosniff');
  }
});

test('site files: serves assets as immutable with their content type', () => {
  const file = site().get('/assets/app-1234.js');
  expect(header(file?.headers, 'Content-Type')).toBe('text/javascript; charset=utf-8');
  expect(header(file?.headers, 'Cache-Control')).toContain('immutable');
});

test.each([
  '/../secret.txt',
  '/assets/../../secret.txt',
  '/%2e%2e/secret.txt',
  '/assets',
  '/constructor',
  '//index.html',
  '',
])('site files: serves nothing at %j', (path) => {
  const files = site();
  expect(files.has(path)).toBe(false);
  expect(files.get(path)).toBeUndefined();
});

test('site files: serves nothing when the build has no pages', () => {
  expect(new SiteFiles(pathToFileURL('/nonexistent/web/')).has('/')).toBe(false);
});
