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

/** Inside the dashboard's script. */
const inDashboard = ['preact', '@preact/signals', '@preact/signals-core'];

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
    // Nothing but types, so that it is its own declaration.
    ['guard.d.ts', readFileSync(join(root, 'src', 'model', 'own-guard.ts'))],
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

/** The browser's part, with names that change with the content; the gateway serves it as it is. */
async function dashboard() {
  const vite = await import('vite');
  // Whoever builds from a test has another one, and would get a larger program with the warnings of developers in it.
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

/** Read when somebody searches for the first time. */
function vectors() {
  return readFileSync(join(root, 'src', 'search', 'data', 'word-vectors.bin'));
}

/** Read by the thread that scripts run in. */
function interpreter() {
  const folder = join(root, 'node_modules', '@jitl', 'quickjs-wasmfile-release-sync');
  return readFileSync(join(folder, 'dist', 'emscripten-module.wasm'));
}

function licences() {
  const texts = [...bundled, ...inDashboard].map((name) => {
    const folder = join(root, 'node_modules', name);
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    return `${name}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  });
  return `Trunkline contains these packages.\n\n${texts.join('\n')}`;
}

/** Leaves what is already there untouched until its successor is written. */
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
