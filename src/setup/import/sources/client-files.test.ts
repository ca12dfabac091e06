import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { describe, expect, test } from 'vitest';

import type { ClientEnvironment, ImportedServer } from '../import-source.ts';
import { anyFileSource, importSources } from './sources.ts';

const folder = fileURLToPath(new URL('../../../../test/support/client-files/', import.meta.url));
const environment: ClientEnvironment = { platform: 'linux', home: '/h', cwd: '/w', env: {} };

function readFile(fileName: string): string {
  return readFileSync(`${folder}${fileName}`, 'utf8');
}

function readWith(read: (typeof anyFileSource)['read'], fileName: string): Map<string, ImportedServer> {
  const servers = read(readFile(fileName), { path: `/h/${fileName}`, scope: 'user', environment });
  return new Map(servers.map((server) => [server.name, server]));
}

function importFile(fileName: string): Map<string, ImportedServer> {
  const source = importSources.find(({ id }) => id === fileName.slice(0, fileName.indexOf('.')));
  if (source === undefined) throw new Error(`No client wrote ${fileName}.`);
  return readWith((text, context) => source.read(text, context), fileName);
}

const program = { command: 'npx', args: ['-y', '@example/files-mcp', '/data'] };
const url = 'https://docs.example/mcp';
const token = { Authorization: 'Bearer ${DOCS_TOKEN}' };

const fileNames = readdirSync(folder).filter((name) => !name.endsWith('.md'));

describe('files that real clients wrote', () => {
  test.each(fileNames)('client file %s: its program and its URL are imported', (fileName) => {
    const servers = importFile(fileName);
    // Cline's command has no option for variables.
    const env = fileName === 'cline.json' ? {} : { env: { MODE: 'fast' } };
    expect(servers.get('files')?.entry).toMatchObject({ ...program, ...env });
    expect(servers.get('docs')?.entry).toMatchObject({ url });
  });

  // By its content, the file of OpenClaw looks like settings of VS Code, in which ${NAME} means something else.
  const distinct = fileNames.filter((name) => name !== 'openclaw.json');

  test.each(distinct)('client file %s: is recognised if the user names it', (fileName) => {
    const servers = readWith((text, context) => anyFileSource.read(text, context), fileName);
    expect(servers.get('files')?.entry).toMatchObject(program);
    expect(servers.get('docs')?.entry).toMatchObject({ url });
  });

  test('opencode, Kilo CLI: the command line is a list, and {env:NAME} becomes a reference', () => {
    for (const fileName of ['opencode.jsonc', 'kilo.jsonc']) {
      const servers = importFile(fileName);
      expect(servers.get('files')).toEqual({
        name: 'files',
        entry: { ...program, env: { MODE: 'fast' } },
        remarks: [],
      });
      expect(servers.get('docs')?.entry).toEqual({
        url,
        headers: { Authorization: 'Bearer ${env:DOCS_TOKEN:-}' },
      });
    }
  });

  test('Cline: the command and the URL are read from the nested transport', () => {
    const servers = importFile('cline.json');
    expect(servers.get('files')?.entry).toEqual(program);
    expect(servers.get('docs')?.entry).toEqual({ type: 'http', url, headers: { Authorization: 'Bearer x' } });
  });

  test('Amp: reads the key amp.mcpServers', () => {
    expect(importFile('amp.json').get('docs')?.entry).toEqual({ url, headers: token });
  });

  test('Copilot CLI: carries over the list of tools, also an empty one', () => {
    const servers = importFile('copilot-cli.json');
    expect(servers.get('files')).toEqual({
      name: 'files',
      entry: {
        ...program,
        env: { MODE: 'fast' },
        timeouts: { call: '20000ms' },
        tools: { allow: ['read', 'list'] },
      },
      remarks: [],
    });
    expect(servers.get('docs')?.entry).toEqual({ type: 'http', url, headers: token });
    expect(servers.get('none')?.entry).toMatchObject({ tools: { allow: [] } });
  });

  test.each([
    { fileName: 'gemini-cli.json', type: 'http' },
    { fileName: 'qwen-code.json', type: 'http' },
  ])('$fileName: carries over tool lists and timeouts, and reports "trust"', ({ fileName, type }) => {
    const servers = importFile(fileName);
    expect(servers.get('files')?.entry).toEqual({
      ...program,
      env: { MODE: 'fast', API_KEY: '${FILES_KEY}' },
      description: 'Files of the team',
      timeouts: { call: '20000ms' },
      tools: { allow: ['read', 'list'], deny: ['erase'] },
    });
    expect(servers.get('files')?.remarks).toEqual([expect.stringMatching(/^"trust" was left out: /)]);
    expect(servers.get('docs')?.entry).toEqual({ type, url, headers: token });
    expect(servers.get('old')?.entry).toEqual({ type: 'sse', url: 'https://old.example/sse' });
  });

  test('Qoder CLI: carries over the command that prints headers', () => {
    const docs = importFile('qoder.json').get('docs');
    expect(docs?.entry).toEqual({ type: 'http', url, headers: token, headersHelper: expect.any(String) });
    expect(docs?.remarks).toEqual([]);
  });

  test('OpenClaw: carries over the filter of tools', () => {
    expect(importFile('openclaw.json').get('files')?.entry).toMatchObject({
      tools: { allow: ['list', 'read'] },
    });
  });
});
