import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { fixture } from './fixture.ts';
import { temporaryFolder } from './test-run.ts';

/** Secrets in places whose whole value is secret, whatever its format. */
export const CONFIGURED_SECRETS = {
  environment: 'planted-environment-7731',
  reference: 'planted-file-reference-7732',
  envFile: 'planted-env-file-7733',
  header: 'planted-header-7734',
  url: 'planted-url-query-7735',
  argument: 'planted-command-argument-7736',
  unused: 'planted-unused-environment-7737',
};

/** Secrets within text, recognisable only by their format. */
export const RECOGNISABLE_SECRETS = {
  anthropic: 'sk-ant-api03-PlantedPlantedPlanted0123456789',
  github: `ghp_${'Planted7'.repeat(5)}`,
  jwt: 'eyJhbGciOiJIUzI1NiJ9.eyJwbGFudGVkIjoidGhlcmUifQ.cGxhbnRlZHBsYW50ZWQ',
  pem: 'cGxhbnRlZC1wcml2YXRlLWtleS1ib2R5LTc3Mzg',
};
export const RECOGNISABLE_TEXT = `${RECOGNISABLE_SECRETS.anthropic} ${RECOGNISABLE_SECRETS.github} Bearer ${RECOGNISABLE_SECRETS.jwt} -----BEGIN PRIVATE KEY-----\n${RECOGNISABLE_SECRETS.pem}\n-----END PRIVATE KEY-----`;

/** Files that the test itself writes. */
const OWN_FILES = ['secret.txt', 'servers.env', 'config.jsonc', 'admin.key'];

export const secretEnv = {
  PLANTED: CONFIGURED_SECRETS.environment,
  PLANTED_URL: CONFIGURED_SECRETS.url,
  PLANTED_HEADER: CONFIGURED_SECRETS.header,
  PLANTED_ARGUMENT: CONFIGURED_SECRETS.argument,
  MY_SECRET_TOKEN: CONFIGURED_SECRETS.unused,
};

export function createHomeWithSecrets(): string {
  const home = temporaryFolder('trunkline-home');
  writeFileSync(join(home, 'secret.txt'), CONFIGURED_SECRETS.reference);
  writeFileSync(join(home, 'servers.env'), `FROM_FILE=${CONFIGURED_SECRETS.envFile}\n`);
  return home;
}

/** Returns a working server, one that cannot be started, one over HTTP and one that is unreachable. */
export function serversWithSecrets(
  httpUrl: string,
): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  const plain = fixture('plain');
  return {
    plain: {
      ...plain,
      envFile: './servers.env',
      env: { ...plain.env, A: '${env:PLANTED}', B: '${file:./secret.txt}' },
    },
    dead: { command: 'no-such-program-anywhere', args: ['--key', '${env:PLANTED_ARGUMENT}'] },
    web: {
      url: `${httpUrl}?key=\${env:PLANTED_URL}`,
      headers: { 'X-Key': '${env:PLANTED_HEADER}', 'X-File': '${file:./secret.txt}' },
    },
    away: {
      url: 'http://127.0.0.1:9/mcp?key=${env:PLANTED_URL}',
      headers: { Authorization: 'Bearer ${env:PLANTED_HEADER}' },
    },
  };
}

/** Returns the content of every file below a folder, except those that the test itself wrote. */
export function readFilesBelow(folder: string): readonly (readonly [string, string])[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && !OWN_FILES.includes(each.name))
    .map((each) => [each.name, readFileSync(join(each.parentPath, each.name), 'latin1')]);
}

/** Returns which of the planted secrets, or of `more`, occur in which of these texts. */
export function findSecrets(
  everything: readonly (readonly [string, string])[],
  more: Readonly<Record<string, string>> = {},
): readonly string[] {
  return Object.entries({ ...CONFIGURED_SECRETS, ...RECOGNISABLE_SECRETS, ...more }).flatMap(
    ([what, secret]) =>
      everything.filter(([, text]) => text.includes(secret)).map(([where]) => `${what} in ${where}`),
  );
}
