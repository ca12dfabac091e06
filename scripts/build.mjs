// Builds src/ into dist/ and web/ into dist/web/.

import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import { bundle, bundled } from './bundle.mjs';

const script = fileURLToPath(import.meta.url);
const root = join(script, '..', '..');
const dist = join(root, 'dist');
const stampFile = join(root, '.stamp', 'build.json');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Packages that are bundled into the script of the dashboard. */
export const dashboardPackages = ['preact', '@preact/signals', '@preact/signals-core'];

export async function build({ force = false } = {}) {
  const begin = performance.now();
  const hash = hashOfInputs();
  if (!force && isFresh(hash)) {
    console.log('build: dist is up to date');
    return;
  }
  rmSync(stampFile, { force: true });
  const files = new Map([
    ...(await bundle({ root, manifest, build: `${manifest.version}+${hash.slice(0, 16)}` })),
    ...(await dashboard()),
    ['LICENSES.txt', licences()],
    ['word-vectors.bin', vectors()],
    ['quickjs.wasm', interpreter()],
    // The file contains only types, so it serves as its own declaration file.
    ['guard.d.ts', readFileSync(join(root, 'src', 'core', 'own-guard.ts'))],
  ]);
  write(files);
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, JSON.stringify({ hash, files: [...files.keys()] }));
  const kilobytes = [...files.values()].reduce((sum, text) => sum + text.length, 0) / 1024;
  const ms = performance.now() - begin;
  console.log(`build: ${files.size} files, ${kilobytes.toFixed(0)} kB, ${ms.toFixed(0)} ms`);
}

function hashOfInputs() {
  const sources = ['src', 'web']
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  const hash = createHash('sha256');
  for (const file of [...sources, join(root, 'package.json'), script, join(root, 'scripts', 'bundle.mjs')]) {
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex');
}

function isFresh(hash) {
  if (!existsSync(stampFile)) return false;
  const stamp = JSON.parse(readFileSync(stampFile, 'utf8'));
  return stamp.hash === hash && stamp.files.every((file) => existsSync(join(dist, file)));
}

/** Builds the dashboard. File names contain a content hash, and the gateway serves the files unchanged. */
async function dashboard() {
  const vite = await import('vite');
  // Under a test runner NODE_ENV is "test", which would produce a larger program with development warnings.
  const before = process.env.NODE_ENV;
  process.env.NODE_ENV = 'production';
  const { output } = await vite
    .build({ configFile: join(root, 'web', 'vite.config.ts'), logLevel: 'warn', build: { write: false } })
    .finally(() => (before === undefined ? delete process.env.NODE_ENV : (process.env.NODE_ENV = before)));
  const files = output.map((file) => [
    `web/${file.fileName}`,
    file.type === 'chunk' ? file.code : file.source,
  ]);
  const icon = readFileSync(join(root, 'web', 'public', 'icon.svg'));
  return [...files, ['web/icon.svg', icon]];
}

/** Returns the word vectors, which the first search loads. */
function vectors() {
  return readFileSync(join(root, 'src', 'catalog', 'search', 'data', 'word-vectors.bin'));
}

/** Returns the interpreter, which the thread of `run_code` loads. */
function interpreter() {
  const folder = join(root, 'node_modules', '@jitl', 'quickjs-wasmfile-release-sync');
  return readFileSync(join(folder, 'dist', 'emscripten-module.wasm'));
}

function licences() {
  const texts = [...bundled, ...dashboardPackages].map((name) => {
    const folder = join(root, 'node_modules', name);
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    return `${name}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  });
  const vectorSources = readFileSync(join(root, 'src', 'catalog', 'search', 'data', 'README.md'), 'utf8');
  return `Trunkline contains these packages.\n\n${texts.join('\n')}\n${vectorSources}`;
}

/** Writes the files first and deletes stale ones afterwards, so that a running program finds its files until they are replaced. */
function write(files) {
  for (const [name, text] of files) {
    const path = join(dist, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: name === 'main.js' ? 0o755 : 0o644 });
  }
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !files.has(relative(dist, path).replaceAll('\\', '/'))) rmSync(path);
  }
}

if (realpathSync(process.argv[1]) === script) await build({ force: process.argv.includes('--force') });
