import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { openLine } from '../support/cell.ts';
import { commandHome } from '../support/command.ts';
import { fixture, startHttpFixture } from '../support/fixture.ts';
import { checkLeaks } from '../support/leak-check.ts';
import { temporaryFolder } from '../support/test-run.ts';

checkLeaks();

/** In places where everything is a secret, whatever it looks like. */
const PLACED = {
  environment: 'planted-environment-7731',
  reference: 'planted-file-reference-7732',
  envFile: 'planted-env-file-7733',
  header: 'planted-header-7734',
  url: 'planted-url-query-7735',
  argument: 'planted-command-argument-7736',
  unused: 'planted-unused-environment-7737',
};
/** In texts, where only the format says that it is one. */
const SAID = {
  anthropic: 'sk-ant-api03-PlantedPlantedPlanted0123456789',
  github: `ghp_${'Planted7'.repeat(5)}`,
  jwt: 'eyJhbGciOiJIUzI1NiJ9.eyJwbGFudGVkIjoidGhlcmUifQ.cGxhbnRlZHBsYW50ZWQ',
  pem: 'cGxhbnRlZC1wcml2YXRlLWtleS1ib2R5LTc3Mzg',
};

/** Every byte below a folder, without what the test put there itself. */
function everythingBelow(folder: string, except: readonly string[]): readonly (readonly [string, string])[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && !except.includes(each.name))
    .map((each) => [each.name, readFileSync(join(each.parentPath, each.name), 'latin1')]);
}

function plantedHome(): string {
  const home = temporaryFolder('trunkline-home');
  writeFileSync(join(home, 'secret.txt'), PLACED.reference);
  writeFileSync(join(home, 'servers.env'), `FROM_FILE=${PLACED.envFile}\n`);
  return home;
}

describe.each(['direct', 'search', 'code'])('a secret is nowhere: %s', (exposure) => {
  test('not in the state, the log, the record, a status or an error', { timeout: 60_000 }, async () => {
    const home = plantedHome();
    await using http = await startHttpFixture('plain');
    const line = await openLine(
      { downstream: 'stdio/legacy', upstream: 'stdio/legacy' },
      { plain: ['plain'], dead: ['dies-at-start'] },
      {
        home,
        args: ['--expose', exposure],
        config: {
          audit: { arguments: true, results: true },
          log: { level: 'debug' },
          mcpServers: {
            plain: {
              ...fixture('plain'),
              envFile: './servers.env',
              env: { A: '${env:PLANTED}', B: '${file:./secret.txt}' },
            },
            dead: { command: 'no-such-program-anywhere', args: ['--key', '${env:PLANTED_ARGUMENT}'] },
            web: {
              url: `${http.url}?key=\${env:PLANTED_URL}`,
              headers: { 'X-Key': '${env:PLANTED_HEADER}' },
            },
            away: {
              url: 'http://127.0.0.1:9/mcp?key=${env:PLANTED_URL}',
              headers: { Authorization: 'Bearer ${env:PLANTED_HEADER}' },
            },
          },
        },
        env: {
          PLANTED: PLACED.environment,
          PLANTED_URL: PLACED.url,
          PLANTED_HEADER: PLACED.header,
          PLANTED_ARGUMENT: PLACED.argument,
          MY_SECRET_TOKEN: PLACED.unused,
        },
      },
    );
    const { client, gateway } = line;
    await client.listTools();
    const text = `${SAID.anthropic} ${SAID.github} Bearer ${SAID.jwt} -----BEGIN PRIVATE KEY-----\n${SAID.pem}\n-----END PRIVATE KEY-----`;
    const heard: unknown[] = [];
    for (const server of ['plain', 'web', 'dead', 'away']) {
      const call = { name: `${server}__echo`, arguments: { text } };
      const [name, args] =
        exposure === 'direct'
          ? [call.name, call.arguments]
          : exposure === 'search'
            ? ['call_write_tool', call]
            : ['run_code', { code: `return await tools.${server}.echo(${JSON.stringify({ text })})` }];
      const answer: unknown = await client.callTool(name, args).catch(String);
      // What a tool says is its own; errors about servers are ours.
      if (server === 'dead' || server === 'away') heard.push(answer);
    }
    await client.callTool(`plain__${SAID.github}`, {}).catch(String);
    await line[Symbol.asyncDispose]();
    const { run } = commandHome();
    const env = { env: { TRUNKLINE_HOME: home, PLANTED: PLACED.environment } };
    const outputs = await Promise.all(
      [['servers'], ['doctor'], ['logs'], ['logs', '--export', 'jsonl'], ['tools']].map((words) =>
        run(['--config', gateway.configFile, ...words], env),
      ),
    );
    expect(outputs[3]?.stdout).toContain('[redacted]');
    const everything = [
      ['stderr', gateway.stderr()] as const,
      ...heard.map((answer) => ['an error', JSON.stringify(answer)] as const),
      ...outputs.flatMap(({ stdout, stderr }) => [['a command', stdout + stderr] as const]),
      ...everythingBelow(home, ['secret.txt', 'servers.env', 'config.jsonc']),
    ];
    expect(everything.length).toBeGreaterThan(8);
    const placed = Object.entries(PLACED).flatMap(([what, secret]) => seenIn(everything, what, secret));
    // The texts of errors repeat no arguments either.
    const said = Object.entries(SAID).flatMap(([what, secret]) => seenIn(everything, what, secret));
    expect([...placed, ...said]).toEqual([]);
  });
});

function seenIn(
  everything: readonly (readonly [string, string])[],
  what: string,
  secret: string,
): readonly string[] {
  return everything.filter(([, text]) => text.includes(secret)).map(([where]) => `${what} in ${where}`);
}
