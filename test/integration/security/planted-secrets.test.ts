import { describe, expect, test } from 'vitest';

import { openTestSetup } from '../../support/cell.ts';
import { commandHome } from '../../support/command.ts';
import { startHttpFixture } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import {
  readFilesBelow,
  findSecrets,
  CONFIGURED_SECRETS,
  secretEnv,
  createHomeWithSecrets,
  serversWithSecrets,
  RECOGNISABLE_SECRETS,
  RECOGNISABLE_TEXT,
} from '../../support/planted-secrets.ts';

checkLeaks();

describe.each(['direct', 'search', 'code'])('planted secrets with %s exposure', (exposure) => {
  test(
    'planted secrets: appear in no state file, log, audit record, command output or error',
    { tags: ['slow'] },
    async () => {
      const home = createHomeWithSecrets();
      await using http = await startHttpFixture('plain');
      const line = await openTestSetup(
        { downstream: 'stdio/legacy', upstream: 'stdio/legacy' },
        { plain: ['plain'], dead: ['dies-at-start'] },
        {
          home,
          args: ['--expose', exposure],
          config: {
            audit: { arguments: true, results: true },
            log: { level: 'debug' },
            mcpServers: serversWithSecrets(http.url),
          },
          env: secretEnv,
        },
      );
      const { client, gateway } = line;
      await client.listTools();
      const heard: unknown[] = [];
      for (const server of ['plain', 'web', 'dead', 'away']) {
        const call = { name: `${server}__echo`, arguments: { text: RECOGNISABLE_TEXT } };
        const [name, args] =
          exposure === 'direct'
            ? [call.name, call.arguments]
            : exposure === 'search'
              ? ['call_write_tool', call]
              : [
                  'run_code',
                  {
                    code: `return await tools.${server}.echo(${JSON.stringify({ text: RECOGNISABLE_TEXT })})`,
                  },
                ];
        const answer: unknown = await client.callTool(name, args).catch(String);
        // Results belong to the tool; only errors about servers come from the gateway.
        if (server === 'dead' || server === 'away') heard.push(answer);
      }
      await client.callTool(`plain__${RECOGNISABLE_SECRETS.github}`, {}).catch(String);
      await line[Symbol.asyncDispose]();
      const { run } = commandHome();
      const env = { env: { TRUNKLINE_HOME: home, PLANTED: CONFIGURED_SECRETS.environment } };
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
        ...readFilesBelow(home),
      ];
      expect(everything.length).toBeGreaterThan(8);
      // Error messages repeat no arguments either.
      expect(findSecrets(everything)).toEqual([]);
    },
  );
});
