import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { SharedHome } from '../../support/shared-home.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

const text = (result: { content?: unknown }): string =>
  (result.content as { text: string }[]).map((part) => part.text).join('');

describe('pipe', () => {
  test('pipe: carries large messages both ways', async () => {
    await using home = new SharedHome({ mcpServers: { plain: fixture('plain') } });
    const client = await (await home.pipe()).client();
    const large = 'ü'.repeat(3_000_000);
    expect(text(await client.callTool('plain__echo', { text: large }))).toBe(large);
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, at) =>
        client.callTool('plain__echo', { text: `${at} ${'x'.repeat(at * 50)}` }),
      ),
    );
    expect(answers.map((answer) => Number.parseInt(text(answer), 10))).toEqual(answers.map((_, at) => at));
  });

  test('pipe: passes server requests only to the client of the call', async () => {
    await using home = new SharedHome({ mcpServers: { asks: fixture('asks-the-user') } });
    const capabilities = { elicitation: {} };
    const [asked, other] = [
      await (await home.pipe()).client({ capabilities }),
      await (await home.pipe()).client({ capabilities }),
    ];
    asked.answers('elicitation/create', () => ({ action: 'accept', content: { name: 'Ada' } }));
    await asked.callTool('asks__ask-form');
    expect(asked.requests.all.map(({ method }) => method)).toEqual(['elicitation/create']);
    expect(other.requests.all).toEqual([]);
  });

  test('pipe: serves modern clients and reports a lost call', async () => {
    const plain = fixture('plain');
    await using home = new SharedHome({ mcpServers: { plain } });
    const client = await (await home.pipe()).client({ era: 'modern' });
    const slow = client.callTool('plain__slow', { ms: 60_000 });
    await fixtureLog(plain).waitFor('call');
    process.kill(home.pid, 'SIGKILL');
    expect(await slow).toMatchObject({ isError: true, _meta: { 'trunkline/code': 'GATEWAY_LOST' } });
    expect(text(await client.callTool('plain__echo', { text: 'again' }))).toBe('again');
  });

  test('pipe: subscribes again at a new gateway and exits with its client', async () => {
    await using home = new SharedHome({ mcpServers: { plain: fixture('plain') } });
    const pipe = await home.pipe();
    const client = await pipe.client({ era: 'modern' });
    await client.listen();
    const acknowledged = () =>
      client.notifications.all.filter(({ method }) => method.endsWith('acknowledged'));
    process.kill(home.pid, 'SIGKILL');
    await eventually(() => expect(acknowledged()).toHaveLength(2));
    await client.close();
    expect({ ...(await pipe.exited), said: pipe.stderr() }).toEqual({ code: 0, signal: null, said: '' });
    expect(home.gateways()).toHaveLength(1);
  });

  test('pipe: applies its own exposure flag at a shared gateway', async () => {
    await using home = new SharedHome({
      mcpServers: { plain: fixture('plain') },
      config: { startup: { listWait: '60s' } },
    });
    const names = async (kind: string): Promise<readonly string[]> => {
      const client = await (await home.pipe({ args: ['--expose', kind] })).client();
      return (await client.listTools()).map(({ name }) => name);
    };
    expect(await names('direct')).toContain('plain__echo');
    expect(await names('search')).not.toContain('plain__echo');
    expect(home.gateways()).toHaveLength(1);
  });

  test('pipe: prints configuration problems on standard error', async () => {
    await using home = new SharedHome({ mcpServers: { plain: fixture('plain'), wrong: { comand: 'x' } } });
    await (await home.pipe()).client();
    const second = await home.pipe();
    await second.client();
    await eventually(() => expect(second.stderr()).toContain('server "wrong" is left out'));
  });

  test('pipe: serves in its own process when the socket path is too long', async () => {
    const deep = join(temporaryFolder('deep'), 'x'.repeat(60), 'y'.repeat(60));
    mkdirSync(deep, { recursive: true });
    await using home = new SharedHome({
      mcpServers: { plain: fixture('plain') },
      home: deep,
      env: { XDG_RUNTIME_DIR: undefined },
    });
    const pipe = await home.pipe();
    const client = await pipe.client();
    expect(text(await client.callTool('plain__echo', { text: 'alone' }))).toBe('alone');
    expect(pipe.stderr()).toContain('too long');
    expect(
      pipe
        .stderr()
        .split('\n')
        .filter((line) => line.includes('this process serves the client itself')),
    ).toHaveLength(1);
  });
});
