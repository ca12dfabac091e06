// Bundles src/main.ts into dist/ and web/ into dist/web/. Dynamic imports become chunks that are loaded when they are needed.

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
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(import.meta.url);
const root = join(script, '..', '..');
const dist = join(root, 'dist');
const stampFile = join(root, '.stamp', 'build.json');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Inside the bundle for start-up time; every other dependency is imported from node_modules. */
const bundled = [
  ...['commander', 'jsonc-parser', 'kysely'],
  // Of scripts, in chunks that only their thread loads; sucrase would install a command line that nobody wants.
  ...['quickjs-emscripten-core', '@jitl/quickjs-wasmfile-release-sync', '@jitl/quickjs-ffi-types'],
  ...['sucrase', 'lines-and-columns', 'ts-interface-checker', '@jridgewell/gen-mapping'],
  ...['@jridgewell/resolve-uri', '@jridgewell/sourcemap-codec', '@jridgewell/trace-mapping'],
];

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
    ...(await bundle(hash.slice(0, 16))),
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
  for (const file of [...sources, join(root, 'package.json'), script]) {
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

async function bundle(id) {
  const esbuild = await import('esbuild');
  const options = {
    absWorkingDir: root,
    entryPoints: [
      { in: 'src/main.ts', out: 'main' },
      { in: 'src/exposure/code/worker/worker.ts', out: 'code-worker' },
      { in: 'src/app/audit-worker.ts', out: 'audit-worker' },
    ],
    outdir: 'dist',
    bundle: true,
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    platform: 'node',
    // The CommonJS form of jsonc-parser hides its imports from a bundler.
    mainFields: ['module', 'main'],
    format: 'esm',
    target: 'node20',
    define: {
      __TRUNKLINE_VERSION__: JSON.stringify(manifest.version),
      __TRUNKLINE_BUILD__: JSON.stringify(`${manifest.version}+${id}`),
    },
    legalComments: 'none',
    logLevel: 'warning',
    plugins: [packages],
    write: false,
  };
  // esbuild has said what is wrong and where.
  const { outputFiles } = await esbuild.build(options).catch(() => process.exit(1));
  return outputFiles.map((file) => {
    const name = relative(dist, file.path).replaceAll('\\', '/');
    return [name, withHeader(name, file.text)];
  });
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

const packages = {
  name: 'packages',
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, ({ path, kind, importer }) => {
      if (kind === 'entry-point') return undefined;
      if (isBuiltin(path)) return { path, external: true };
      const name = path
        .split('/')
        .slice(0, path.startsWith('@') ? 2 : 1)
        .join('/');
      if (bundled.includes(name)) return undefined;
      if (name in manifest.dependencies) return { path, external: true };
      return { errors: [{ text: `"${name}" is not in "dependencies"`, detail: importer }] };
    });
  },
};

function withHeader(name, text) {
  let header = name === 'main.js' && !text.startsWith('#!') ? '#!/usr/bin/env node\n' : '';
  // Bundled CommonJS asks for Node's own modules with `require`, which a module does not have.
  if (text.includes('Dynamic require of')) {
    header += `import { createRequire as makeRequire } from 'node:module';\nconst require = makeRequire(import.meta.url);\n`;
  }
  return header + text;
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
