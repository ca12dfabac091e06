// Bundles src/main.ts and the threads it starts. What is imported when needed becomes a chunk of its own.

import { readdirSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';

/**
 * Inside the bundle, since reading their files one by one takes longer than running them: zod alone has a hundred. What has
 * programs of its own (`libsql`) or looks for others (`pg`) is imported from node_modules.
 */
export const bundled = [
  ...['commander', 'jsonc-parser', 'kysely', 'zod', 'hono', '@hono/node-server', 'jose', 'smol-toml', 'yaml'],
  ...['ajv', 'fast-deep-equal', 'fast-uri', 'json-schema-traverse', 'require-from-string'],
  // Of scripts, in a file that only their thread loads; sucrase would install a command line that nobody wants.
  ...['quickjs-emscripten-core', '@jitl/quickjs-wasmfile-release-sync', '@jitl/quickjs-ffi-types'],
  ...['sucrase', 'lines-and-columns', 'ts-interface-checker', '@jridgewell/gen-mapping'],
  ...['@jridgewell/resolve-uri', '@jridgewell/sourcemap-codec', '@jridgewell/trace-mapping'],
];

/** What every command loads, and what `serve` loads before it answers a client. */
const START = ['cli/program.ts', 'cli/output.ts', 'cli/print/crash-line.ts'];
const GATEWAY = ['cli/commands/serve.ts', 'cli/commands/serve-here.ts', 'app/app.ts'];
/** Commands that are a gateway themselves, rather than asking one. */
const GATEWAYS = ['serve-here.ts', 'serve-background.ts', 'wrap.ts'];

/** Threads have no program around them whose chunks they could share: one file each starts soonest. */
const THREADS = {
  'code-worker': 'exposure/code/worker/worker.ts',
  'audit-worker': 'app/audit-worker.ts',
};

/** The files of the program by their names in dist. */
export async function bundle({ root, manifest, build }) {
  const { rolldown } = await import('rolldown');
  const source = (name) => join(root, 'src', name);
  const generate = async (name, file, codeSplitting) => {
    const bundling = await rolldown({
      input: { [name]: source(file) },
      cwd: root,
      platform: 'node',
      plugins: [packages(manifest)],
      // The CommonJS form of jsonc-parser hides its imports from a bundler.
      resolve: { mainFields: ['module', 'main'] },
      transform: {
        target: 'node20',
        define: {
          __TRUNKLINE_VERSION__: JSON.stringify(manifest.version),
          __TRUNKLINE_BUILD__: JSON.stringify(build),
        },
      },
      preserveEntrySignatures: 'allow-extension',
    });
    const { output } = await bundling.generate({
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: 'chunks/[name]-[hash].js',
      comments: false,
      banner: ({ isEntry }) => (isEntry && name === 'main' ? '#!/usr/bin/env node' : ''),
      codeSplitting,
    });
    return output.map(({ fileName, code }) => [fileName, code]);
  };
  const bundles = [
    generate('main', 'main.ts', { groups: [togetherAtStart(root)] }),
    ...Object.entries(THREADS).map(([name, file]) => generate(name, file, false)),
  ];
  return (await Promise.all(bundles)).flat();
}

/**
 * Left to itself, a bundler makes a chunk for every set of commands that share something: seventy small files before `serve`
 * can answer, which cost more than what is in them. These are three: of every command, of the gateway alone, and of the gateway
 * and some command, so that no command loads the gateway for a trifle.
 */
function togetherAtStart(root) {
  const commands = readdirSync(join(root, 'src/cli/commands'))
    .filter((name) => /(?<!\.test)\.ts$/.test(name) && !GATEWAYS.includes(name))
    .map((name) => `cli/commands/${name}`);
  let closures;
  return {
    debugName: 'together at the start',
    includeDependenciesRecursively: false,
    name(id, context) {
      const closure = (names) => {
        const reached = new Set(names.map((name) => join(root, 'src', name)));
        for (const each of reached)
          for (const imported of context.getModuleInfo(each)?.importedIds ?? []) reached.add(imported);
        return reached;
      };
      closures ??= { start: closure(START), gateway: closure(GATEWAY), commands: closure(commands) };
      if (closures.start.has(id)) return 'start';
      if (!closures.gateway.has(id)) return null;
      return closures.commands.has(id) ? 'common' : 'gateway';
    },
  };
}

/** Packages stay outside, and have to be among those that are installed with the program. */
function packages({ dependencies }) {
  return {
    name: 'packages',
    resolveId(path, importer, { isEntry }) {
      if (isEntry || !/^[^./]/.test(path)) return null;
      if (isBuiltin(path)) return { id: path, external: true };
      const name = path
        .split('/')
        .slice(0, path.startsWith('@') ? 2 : 1)
        .join('/');
      if (bundled.includes(name)) return null;
      if (name in dependencies) return { id: path, external: true };
      throw new Error(`"${name}" is not in "dependencies"; ${importer} imports it`);
    },
  };
}
