import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { commandHome } from '../../support/command.ts';
import { fixture, startHttpFixture } from '../../support/fixture.ts';
import type { HttpFixture } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { runInTerminal, visibleText } from '../../support/terminal.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

interface ServerState {
  readonly name: string;
  readonly state: string;
  readonly problem?: { readonly message: string; readonly summary?: string; readonly fix?: string };
}

const folder = temporaryFolder('failures');
const plain = fixture('plain');
const command = [plain.command, ...plain.args].map((word) => `'${word}'`).join(' ');
const bin = join(folder, 'bin');
let web: Server;
let working: HttpFixture;

/** Writes an executable shell script. */
function script(name: string, text: string): string {
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(bin, name), 0o755);
  return join(bin, name);
}

const npx = script(
  'npx',
  `echo "$@" >> '${join(folder, 'npx.log')}'
case "$*" in *@acme/jira-mcp*)
  echo "npm error code E404" >&2
  echo "npm error 404  '@acme/jira-mcp@*' is not in this registry." >&2
  exit 1;;
esac
exec ${command}`,
);

beforeAll(async () => {
  working = await startHttpFixture('plain');
  web = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end('<title>Hotel</title>');
  });
  await new Promise<void>((resolve) => {
    web.listen(0, '127.0.0.1', resolve);
  });
});

afterAll(async () => {
  web.close();
  await working[Symbol.asyncDispose]();
});

interface Advice {
  readonly name: string;
  readonly entry: () => object;
  readonly summary: RegExp;
  readonly fix: string;
  /** Does what the fix says before its command, or edits the file with the arguments of `sed -i` if the command is `trunkline edit`. */
  readonly apply: () => string | void;
  /** The command of the fix if it is neither `restart` nor `edit`. It reads a value from standard input. */
  readonly command?: readonly string[];
}

const advices: readonly Advice[] = [
  {
    name: 'acme',
    entry: () => ({ command: npx, args: ['-y', '@acme/jira-mcp'] }),
    summary: /^npm cannot find @acme\/jira-mcp\.$/,
    fix: 'Check the name: trunkline edit acme',
    apply: () => 's:@acme/jira-mcp:other-mcp:',
  },
  {
    name: 'appdb',
    entry: () => ({ command: join(bin, 'appdb') }),
    summary: /the program ".*appdb" was not found\.$/,
    fix: 'Install it and run trunkline restart appdb, or correct "command": trunkline edit appdb',
    apply: () => void script('appdb', `exec ${command}`),
  },
  {
    name: 'folder',
    entry: () => ({ ...plain, cwd: join(folder, 'work') }),
    summary: /its folder ".*work" does not exist\.$/,
    fix: 'Create it and run trunkline restart folder, or correct "cwd": trunkline edit folder',
    apply: () => mkdirSync(join(folder, 'work')),
  },
  {
    name: 'module',
    entry: () => ({ command: process.execPath, args: [join(folder, 'gone.mjs')] }),
    summary: /exited with code 1 before it was ready: .*gone\.mjs is missing\./,
    fix: 'Install it and run trunkline restart module, or correct "args": trunkline edit module',
    apply: () => writeFileSync(join(folder, 'gone.mjs'), `import ${JSON.stringify(plain.args[0])};`),
  },
  {
    name: 'token',
    entry: () => ({ ...plain, env: { TOKEN: '${env:NOT_SET_ANYWHERE}' } }),
    summary: /the environment variable NOT_SET_ANYWHERE is not set\.$/,
    fix: 'Store its value with: trunkline secret set NOT_SET_ANYWHERE',
    apply: () => {},
    command: ['secret', 'set', 'NOT_SET_ANYWHERE'],
  },
  {
    name: 'refused',
    entry: () => ({ url: 'http://127.0.0.1:9/mcp' }),
    summary: /nothing listens at 127\.0\.0\.1:9\.$/,
    fix: 'Start it and run trunkline restart refused, or correct "url": trunkline edit refused',
    apply: () => `s;http://127.0.0.1:9/mcp;${working.url};`,
  },
  {
    name: 'portal',
    entry: () => ({ url: `http://127.0.0.1:${(web.address() as AddressInfo).port}/portal` }),
    summary: /answers with a web page instead of MCP: .*captive portal/,
    fix: 'Sign in to the network and run trunkline restart portal, or correct "url": trunkline edit portal',
    apply: () => `s;http://127.0.0.1:[0-9]*/portal;${working.url};`,
  },
  {
    name: 'exits',
    entry: () => ({ command: '/bin/sh', args: ['-c', 'echo no config >&2; exit 3'] }),
    summary: /exited with code 3 before it was ready\. \(It wrote to standard error: no config\)$/,
    fix: 'Correct its command or settings: trunkline edit exits',
    apply: () => `s;echo no config.*exit 3;exec ${command};`,
  },
];

describe('failures of servers', () => {
  test(
    'failures: are the same in servers, why, doctor and search, with and without a gateway',
    { tags: ['slow'] },
    async () => {
      const home = commandHome({
        plain,
        acme: advices[0]?.entry(),
        module: { command: process.execPath, args: [join(folder, 'never.mjs')] },
      });
      const before = await home.run(['search', 'echo']);
      expect(before.stderr).toBe('2 servers left out (acme, module). To see why, run: trunkline doctor\n');
      const calls = async () => {
        const servers = (await home.json(['servers'])) as readonly ServerState[];
        const why = (await home.json(['why', 'acme'])) as { reasons: string[]; fixes: string[] };
        const doctor = JSON.parse((await home.run(['doctor'])).stdout) as {
          findings: { subject: string; message: string; fix?: string }[];
        };
        const finding = doctor.findings.find(({ subject }) => subject === 'acme');
        const problem = servers.find(({ name }) => name === 'acme')?.problem;
        return [
          [problem?.summary, problem?.fix],
          [why.reasons[0], why.fixes[0]],
          [finding?.message, finding?.fix],
        ];
      };
      const expected = ['npm cannot find @acme/jira-mcp.', 'Check the name: trunkline edit acme'];
      expect(await calls()).toEqual([expected, expected, expected]);
      const { mcpServers } = JSON.parse(readFileSync(home.configFile, 'utf8')) as { mcpServers: object };
      await using gateway = await startGateway({
        mcpServers: { ...mcpServers },
        home: home.home,
        listen: 'http',
      });
      expect(gateway.home).toBe(home.home);
      await home.run(['search', 'echo']);
      expect(await calls()).toEqual([expected, expected, expected]);
      expect((await home.run(['search', 'echo'])).stderr).toBe(before.stderr);
    },
  );

  test('failures: every advice removes the problem it was given for', { tags: ['slow'] }, async () => {
    const home = commandHome(Object.fromEntries(advices.map(({ name, entry }) => [name, entry()])));
    const list = async () => (await home.json(['servers'])) as readonly ServerState[];
    await home.run(['refresh']);
    const broken = new Map((await list()).map((server) => [server.name, server.problem]));
    for (const { name, summary, fix, apply, command } of advices) {
      expect(broken.get(name)).toMatchObject({ summary: expect.stringMatching(summary) as string, fix });
      const edit = apply() ?? undefined;
      const words = command ?? [edit === undefined ? 'restart' : 'edit', name];
      expect(fix).toContain(`trunkline ${words.join(' ')}`);
      const editor = script(`editor-${name}`, `exec sed -i "${edit ?? ''}" "$1"`);
      await home.run(words, { env: { VISUAL: editor, EDITOR: editor }, input: 'value' });
      const { stderr } = await home.run(['refresh', name]);
      expect({ name, stderr }).toEqual({ name, stderr: '' });
    }
    expect((await list()).flatMap(({ name, problem }) => (problem ? [name] : []))).toEqual([]);
  });
});

describe('output of commands', () => {
  const home = commandHome({ plain });
  const asPerson = { env: { TRUNKLINE_OUTPUT: undefined } };

  test('output: is text in a pipe, and JSON with --json or TRUNKLINE_OUTPUT=json', async () => {
    const { stdout } = await home.run(['call', 'plain.echo', 'text=hello'], asPerson);
    expect(stdout).toBe('hello\n');
    const asJson = await home.run(['call', 'plain/echo', 'text=hello', '--json'], asPerson);
    expect(JSON.parse(asJson.stdout)).toMatchObject({ content: [{ type: 'text', text: 'hello' }] });
    expect((await home.run(['call', 'echo', 'text=hello'])).stdout).toBe(asJson.stdout);
  });

  test('call: names the nearest argument', async () => {
    const { code, stderr } = await home.run(['call', 'echo', 'txt=hello']);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Did you mean text?') as string,
    });
  });

  test(
    'lock: goes on past servers that cannot be listed and keeps their entries',
    { tags: ['slow'] },
    async () => {
      const mixed = commandHome({ plain, broken: { command: 'no-such-program-of-ours' } });
      const { code, stdout, stderr } = await mixed.run(['lock']);
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: expect.stringMatching(/^Not compared: Server "broken" cannot be started/) as string,
      });
      expect(JSON.parse(stdout)).toMatchObject({ written: true, missing: [{ name: 'broken' }] });
      expect((await mixed.run(['lock', '--check'])).code).toBe(4);
    },
  );
});

describe('at a terminal', { tags: ['expect'] }, () => {
  test('call: starts the gateway in the background for the calls after it', { tags: ['slow'] }, async () => {
    const home = commandHome({ plain });
    const env = { TRUNKLINE_STANDALONE: undefined, CI: undefined };
    const first = await runInTerminal(home, ['call', 'plain.echo', 'text=one'], { env });
    expect(visibleText(first.screen)).toContain('Started a gateway in the background');
    const second = await runInTerminal(home, ['call', 'plain.echo', 'text=two'], { env });
    expect(visibleText(second.screen)).toBe('two\n');
    expect((await home.run(['stop', '--text'])).stdout).toContain('Stopped the gateway');
  });

  test('long list: is shown in the pager at a terminal, and directly in CI', { tags: ['slow'] }, async () => {
    const home = commandHome({ many: fixture('many-tools') });
    const PAGER = "sed 's/^/paged /'";
    const paged = await runInTerminal(home, ['tools'], { env: { PAGER, CI: undefined } });
    expect(visibleText(paged.screen)).toContain('paged many__');
    const direct = await runInTerminal(home, ['tools'], { env: { PAGER, CI: '1' } });
    expect(visibleText(direct.screen)).not.toContain('paged');
    const missing = await runInTerminal(home, ['tools'], { env: { PAGER: 'no-such-pager', CI: undefined } });
    expect(visibleText(missing.screen)).toContain('many__');
  });

  test('wrap: explains at a terminal what it waits for', async () => {
    const home = commandHome();
    const script = ['expect "wrap"', 'send "\\004"'];
    const { screen } = await runInTerminal(home, ['wrap', '--init-timeout', '5', '--', 'some-server'], {
      script,
    });
    expect(visibleText(screen)).toContain('Waiting for an MCP client on standard input.');
    expect(visibleText(screen)).toContain('"some-server"');
  });
});

test('failure: quotes the output of the server without the secrets that it received', async () => {
  const hidden = 'the-hidden-value-of-the-token';
  const line = 'The server rejects the token $TOKEN';
  const env = { TOKEN: '${env:FAILING_TOKEN}' };
  const home = commandHome({
    failing: { command: 'sh', args: ['-c', `echo "${line}"; echo "${line}" >&2; sleep 0.2; exit 3`], env },
  });
  const { stdout, stderr } = await home.run(['tools', 'failing'], { env: { FAILING_TOKEN: hidden } });
  expect(stderr).toMatch(
    /standard error: The server rejects the token [^|]*standard output: The server rejects/,
  );
  expect(stdout + stderr).not.toContain(hidden);
});
