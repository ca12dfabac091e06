import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect } from 'vitest';

import { textOfResult } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { type SdkClient, withSdkClients } from '../../support/sdk-gateway.ts';
import { runVariable, temporaryFolder, testRun } from '../../support/test-run.ts';
import { scenario } from '../../support/scenario.ts';

checkLeaks();

scenario(
  'reference servers: everything, filesystem and memory work behind the gateway',
  { downstream: ['stdio/legacy', 'http/legacy', 'http/modern'], upstream: ['stdio/legacy', 'http/legacy'] },
  async (cell) => {
    const folder = realpathSync(temporaryFolder('sandbox'));
    writeFileSync(join(folder, 'hello.txt'), 'Hello from a file.\n');
    const memory = join(temporaryFolder(), 'memory.jsonl');
    await using everything = await everythingOver(cell.upstream === 'stdio/legacy' ? 'stdio' : 'http');
    const mcpServers = {
      everything: everything.entry,
      filesystem: started('filesystem', [folder]),
      memory: started('memory', [], { MEMORY_FILE_PATH: memory }),
    };
    const config = { startup: { listWait: '60s' } };
    await withSdkClients(cell, { mcpServers, config }, async (client) => {
      const tools = await client.tools();
      expect(tools).toEqual(
        expect.arrayContaining(['everything__echo', 'filesystem__read_text_file', 'memory__read_graph']),
      );
      await tryEverything(client);
      await tryFilesystem(client, folder);
      await tryMemory(client, memory);
    });
  },
);

async function tryEverything(client: SdkClient): Promise<void> {
  expect(textOfResult(await client.call('everything__echo', { message: 'hi' }))).toBe('Echo: hi');
  expect(textOfResult(await client.call('everything__get-sum', { a: 2, b: 40 }))).toContain('42');
  const image = await client.call('everything__get-tiny-image');
  expect(image.content.map(({ type }) => type)).toContain('image');
  const structured = await client.call('everything__get-structured-content', { location: 'Chicago' });
  expect(structured.structuredContent).toHaveProperty('temperature');
  const reports: number[] = [];
  const onprogress = ({ progress }: { progress: number }): void => void reports.push(progress);
  await client.call(
    'everything__trigger-long-running-operation',
    { duration: 0.2, steps: 4 },
    { onprogress },
  );
  // These clients drop a report that arrives in the same chunk as the answer, with or without the gateway.
  expect(reports.slice(0, 3)).toEqual([1, 2, 3]);
  expect(await client.prompts()).toContain('everything__args-prompt');
  const prompt = await client.prompt('everything__args-prompt', { city: 'Prague' });
  expect(JSON.stringify(prompt)).toContain('Prague');
  const ref = { type: 'ref/prompt', name: 'everything__completable-prompt' } as const;
  expect(await client.complete(ref, { name: 'department', value: 'E' })).toContain('Engineering');
  const [uri = ''] = await client.resources();
  expect(uri).toMatch(/^demo:\/\/resource\/static\//);
  expect(String((await client.read(uri))[0]?.['text']).length).toBeGreaterThan(100);
  expect(await client.templates()).toContain('demo://resource/dynamic/text/{resourceId}');
  expect((await client.read('demo://resource/dynamic/text/3'))[0]?.['text']).toContain('3');
}

async function tryFilesystem(client: SdkClient, folder: string): Promise<void> {
  const hello = { path: join(folder, 'hello.txt') };
  expect(textOfResult(await client.call('filesystem__read_text_file', hello))).toContain(
    'Hello from a file.',
  );
  const own = join(folder, `${client.version}-${client.era}.txt`);
  await client.call('filesystem__write_file', { path: own, content: 'written "€"\n' });
  expect(readFileSync(own, 'utf8')).toBe('written "€"\n');
  const outside = await client.call('filesystem__read_text_file', { path: '/etc/hostname' });
  expect(outside).toMatchObject({ isError: true });
  expect(textOfResult(outside)).toContain('outside');
}

async function tryMemory(client: SdkClient, file: string): Promise<void> {
  const name = `Ada of ${client.version} ${client.era}`;
  const entities = [{ name, entityType: 'person', observations: ['likes engines'] }];
  await client.call('memory__create_entities', { entities });
  expect(textOfResult(await client.call('memory__search_nodes', { query: 'engines' }))).toContain(name);
  expect(readFileSync(file, 'utf8')).toContain(name);
}

/** The leak check finds remaining servers by this variable. */
const mark = { [runVariable]: testRun().id };

function started(name: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return { command: process.execPath, args: [programOf(name), ...args], env: { ...mark, ...env } };
}

function programOf(name: string): string {
  const url = new URL(
    `../../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`,
    import.meta.url,
  );
  const program = fileURLToPath(url);
  if (!existsSync(program)) throw new Error(`${program} is missing.`);
  return program;
}

/** Returns an entry for the reference server, which the gateway starts over stdio or the test starts over HTTP. */
async function everythingOver(transport: 'stdio' | 'http') {
  if (transport === 'stdio')
    return { entry: started('everything', ['stdio']), [Symbol.asyncDispose]: async () => {} };
  const port = await freePort();
  const child = spawn(process.execPath, [programOf('everything'), 'streamableHttp'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, PORT: String(port) },
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  await eventually(() => stderr.includes(`port ${port}`), { what: 'The server', withinMs: 20_000 });
  return {
    entry: { url: `http://127.0.0.1:${port}/mcp` },
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'close');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Returns a port that is currently free, because the server cannot choose one itself. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}
