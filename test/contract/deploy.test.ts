import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';

import { loadConfig } from '../../src/config/load.ts';
import { nginxConfig } from '../fleet/nginx.ts';
import { temporaryFolder } from '../support/test-run.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const deploy = join(root, 'deploy');
const read = (name: string): string => readFileSync(join(deploy, name), 'utf8');
const hasProgram = (name: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)));

/** What is in a YAML file; anything that a parser warns of is an error here. */
function parsed<T>(name: string): T {
  const [document, ...more] = parseAllDocuments(read(name), { merge: true });
  expect(more, name).toEqual([]);
  expect(document && [...document.errors, ...document.warnings], name).toEqual([]);
  return document?.toJS() as T;
}

async function config(text: string) {
  const { value, warnings } = await loadConfig({ file: join(deploy, 'config.jsonc'), text, version: '0' });
  expect(warnings).toEqual([]);
  return value;
}

describe('Dockerfile', () => {
  const lines = read('Dockerfile')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '');
  const of = (word: string): string[] => lines.filter((line) => line.startsWith(`${word} `));

  test('copies only what is there and what is not ignored', () => {
    const allowed = new Set(
      read('Dockerfile.dockerignore')
        .split('\n')
        .filter((line) => line.startsWith('!'))
        .map((line) => line.slice(1)),
    );
    for (const name of allowed) expect(existsSync(join(root, name)), name).toBe(true);
    const [manifests, everything] = of('COPY');
    expect(manifests).toBe('COPY package.json package-lock.json ./');
    expect(everything).toBe('COPY . .');
    const made = new Set(['node_modules', 'dist']);
    for (const line of of('COPY').slice(2)) {
      expect(line).toMatch(/^COPY --from=build /);
      for (const [, name = ''] of line.matchAll(/\/build\/(\S+)/g))
        expect(made.has(name) || allowed.has(name), name).toBe(true);
    }
  });

  test('has a base with a version, ends as nobody special, and asks its own program how it is', () => {
    for (const from of of('FROM')) expect(from).toMatch(/^FROM node:20-slim( AS build)?$/);
    expect(of('USER')).toEqual(['USER node']);
    expect(lines.indexOf('USER node')).toBeLessThan(lines.findIndex((line) => line.startsWith('ENTRYPOINT')));
    const [check = ''] = of('HEALTHCHECK');
    expect(check).toContain('CMD ["trunkline", "healthcheck", "http://127.0.0.1:7332"]');
    expect(of('ENTRYPOINT')).toEqual(['ENTRYPOINT ["trunkline"]']);
    for (const line of [...of('ENTRYPOINT'), ...of('CMD')])
      expect(() => JSON.parse(line.slice(line.indexOf('['))) as unknown).not.toThrow();
  });
});

interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly secrets: Readonly<Record<string, unknown>>;
}

interface ComposeService {
  readonly image: string;
  readonly secrets?: readonly string[];
  readonly init?: boolean;
  readonly read_only?: boolean;
  readonly stop_grace_period?: string;
  readonly ports?: readonly string[];
  readonly networks?: { readonly inside?: { readonly ipv4_address?: string } | null };
}

describe('compose.yaml', () => {
  const { services, secrets } = parsed<Compose>('compose.yaml');
  const gateways = Object.entries(services).filter(([name]) => name.startsWith('trunkline-'));

  test('has three gateways that are alike, each where nginx expects it', () => {
    expect(gateways).toHaveLength(3);
    const [first] = gateways;
    for (const [, { networks: _one, ...gateway }] of gateways) {
      const { networks: _other, ...expected } = first?.[1] ?? { image: '' };
      expect(gateway).toEqual(expected);
      expect(gateway).toMatchObject({ init: true, read_only: true });
    }
    const addresses = gateways.map(([, { networks }]) => networks?.inside?.ipv4_address);
    expect([...read('nginx.conf').matchAll(/server ([\d.]+):7332/g)].map(([, at]) => at)).toEqual(addresses);
  });

  test('shows only nginx to the outside, and that on this machine', () => {
    const shown = Object.entries(services).filter(([, { ports }]) => ports !== undefined);
    expect(shown.map(([name, { ports }]) => [name, ports])).toEqual([['nginx', ['127.0.0.1:8080:8080']]]);
  });

  test('names every secret, and pins every image to a version', () => {
    for (const [name, service] of Object.entries(services)) {
      for (const secret of service.secrets ?? []) expect(Object.keys(secrets), name).toContain(secret);
      if (!name.startsWith('trunkline-')) expect(service.image, name).toMatch(/:\d+(\.\d+)*$/);
    }
    for (const [, at = ''] of read('config.jsonc').matchAll(/\/run\/secrets\/(\w+)/g))
      expect(Object.keys(secrets)).toContain(at);
  });

  test('gives gateways more time to stop than their configuration takes', async () => {
    const { http, shutdownMs } = await config(read('config.jsonc'));
    expect(http.drainMs).toBeGreaterThan(0);
    for (const [, { stop_grace_period: grace = '' }] of gateways)
      expect(Number.parseInt(grace, 10) * 1000).toBeGreaterThan(http.drainMs + shutdownMs);
  });
});

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
}

function podOf({ spec }: Manifest): Readonly<Record<string, unknown>> {
  const { template } = spec as { template: { spec: Record<string, unknown> } };
  return template.spec;
}

describe('kubernetes', () => {
  const all = readdirSync(join(deploy, 'kubernetes')).map((name) => parsed<Manifest>(`kubernetes/${name}`));
  const of = (kind: string): Manifest => all.find((one) => one.kind === kind) as Manifest;
  const label = { 'app.kubernetes.io/name': 'trunkline' };

  test('has what a fleet needs, and every part finds the pods', () => {
    expect(all.map(({ kind }) => kind).toSorted()).toEqual(
      ['ConfigMap', 'Deployment', 'NetworkPolicy', 'PodDisruptionBudget', 'Service'].toSorted(),
    );
    for (const { metadata } of all) expect(metadata.labels).toEqual(label);
    expect(of('Deployment').spec).toMatchObject({
      selector: { matchLabels: label },
      template: { metadata: { labels: label } },
    });
    expect(of('Service').spec).toMatchObject({ selector: label, sessionAffinity: 'None' });
    expect(of('PodDisruptionBudget').spec).toMatchObject({ selector: { matchLabels: label } });
    expect(of('NetworkPolicy').spec).toMatchObject({ podSelector: { matchLabels: label } });
  });

  test('asks for readiness where it fails first, and waits for longer than a gateway takes to stop', async () => {
    const { http, shutdownMs } = await config(of('ConfigMap').data?.['config.jsonc'] ?? '');
    const pod = podOf(of('Deployment'));
    expect(Number(pod['terminationGracePeriodSeconds']) * 1000).toBeGreaterThan(http.drainMs + shutdownMs);
    const [container] = pod['containers'] as [Record<string, unknown>];
    expect(container).toMatchObject({
      livenessProbe: { httpGet: { path: '/healthz' } },
      readinessProbe: { httpGet: { path: '/readyz' } },
    });
    const { periodSeconds, failureThreshold, timeoutSeconds } = container['readinessProbe'] as Record<
      string,
      number
    >;
    // Whoever routes must have heard of it before the gateway refuses connections.
    const heardMs = ((periodSeconds ?? 0) * (failureThreshold ?? 0) + (timeoutSeconds ?? 0)) * 1000;
    expect(http.drainMs).toBeGreaterThan(heardMs);
  });

  test('runs as nobody special on a disk that cannot be written', () => {
    const pod = podOf(of('Deployment'));
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
        },
      ],
    });
  });
});

describe('trunkline.service', () => {
  const isThere = hasProgram('systemd-analyze');
  if (!isThere) console.warn('systemd-analyze is not here: the unit is not checked.');
  /** With a program that exists here in place of the installed one. */
  const unit = (): string => {
    const file = join(temporaryFolder('unit'), 'trunkline.service');
    writeFileSync(file, read('trunkline.service').replace('/usr/local/bin/trunkline', process.execPath));
    return file;
  };

  test.runIf(isThere)('is what systemd takes', () => {
    const { stderr, status } = spawnSync('systemd-analyze', ['verify', unit()], { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });

  test.runIf(isThere)('is as little exposed as the document says', () => {
    const text = execFileSync('systemd-analyze', ['security', '--offline=yes', '--no-pager', unit()], {
      encoding: 'utf8',
    });
    const [, level = ''] = /exposure level for trunkline\.service: ([\d.]+)/.exec(text) ?? [];
    const [, said = ''] =
      /exposure level of ([\d.]+)/.exec(readFileSync(join(root, 'docs/deploy.md'), 'utf8')) ?? [];
    expect(Number(level)).toBeGreaterThan(0);
    expect(Number(level)).toBeLessThanOrEqual(Number(said));
  });
});

describe('nginx.conf', () => {
  const isThere = hasProgram('nginx');
  if (!isThere) console.warn('nginx is not here: its configuration is not checked.');

  test.runIf(isThere)('is what nginx takes', () => {
    const file = join(temporaryFolder('nginx'), 'nginx.conf');
    writeFileSync(file, nginxConfig(['172.31.77.11:7332'], '8080'));
    const { stderr, status } = spawnSync('nginx', ['-t', '-e', 'stderr', '-c', file], { encoding: 'utf8' });
    expect(status, stderr).toBe(0);
  });

  test('tries again only what was not sent, and keeps nothing back', () => {
    const text = read('nginx.conf').replaceAll(/#.*/g, '');
    expect(text).not.toMatch(/non_idempotent|keepalive|ip_hash|sticky/);
    expect(text).toMatch(/proxy_buffering off;/);
  });
});
