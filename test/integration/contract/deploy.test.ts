import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';

import { loadConfig } from '../../../src/config/load-config.ts';
import { loadNodeSqlite } from '../../../src/core/storage/sqlite-binding.ts';
import { nginxConfig } from '../../system/fleet/nginx.ts';
import { temporaryFolder } from '../../support/test-run.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const deploy = join(root, 'deploy');
const read = (name: string): string => readFileSync(join(deploy, name), 'utf8');

/** The content of a YAML file; parser warnings are errors. */
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

  test('Dockerfile: copies only existing files that .dockerignore allows', () => {
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

  test('Dockerfile: pins its base image, runs as non-root and has a health check', () => {
    for (const from of of('FROM')) expect(from).toMatch(/^FROM node:26-slim( AS build)?$/);
    expect(of('USER')).toEqual(['USER node']);
    expect(lines.indexOf('USER node')).toBeLessThan(lines.findIndex((line) => line.startsWith('ENTRYPOINT')));
    const [check = ''] = of('HEALTHCHECK');
    expect(check).toContain('CMD ["trunkline", "healthcheck", "http://127.0.0.1:7332"]');
    expect(of('ENTRYPOINT')).toEqual(['ENTRYPOINT ["trunkline"]']);
    for (const line of [...of('ENTRYPOINT'), ...of('CMD')])
      expect(() => JSON.parse(line.slice(line.indexOf('['))) as unknown).not.toThrow();
  });

  test('Dockerfile: leaves the binary of libsql out, and its Node has SQLite built in', () => {
    expect(of('RUN').some((line) => line.includes('npm prune --omit=dev --omit=optional'))).toBe(true);
    for (const from of of('FROM')) {
      const [, major] = /node:(\d+)/.exec(from) ?? [];
      const runtime = { versions: { node: `${major}.0.0` }, getBuiltinModule: () => ({}) };
      expect(loadNodeSqlite(runtime), from).toBeDefined();
    }
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

  test('compose.yaml: runs three identical gateways at the addresses in nginx.conf', () => {
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

  test('compose.yaml: publishes only nginx, on the loopback address', () => {
    const shown = Object.entries(services).filter(([, { ports }]) => ports !== undefined);
    expect(shown.map(([name, { ports }]) => [name, ports])).toEqual([['nginx', ['127.0.0.1:8080:8080']]]);
  });

  test('compose.yaml: declares every secret and pins every image', () => {
    for (const [name, service] of Object.entries(services)) {
      for (const secret of service.secrets ?? []) expect(Object.keys(secrets), name).toContain(secret);
      if (!name.startsWith('trunkline-')) expect(service.image, name).toMatch(/:\d+(\.\d+)*$/);
    }
    for (const [, at = ''] of read('config.jsonc').matchAll(/\/run\/secrets\/(\w+)/g))
      expect(Object.keys(secrets)).toContain(at);
  });

  test('compose.yaml: gives gateways more time to stop than they need', async () => {
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

  test('kubernetes: has every manifest of a fleet, and all select the same pods', () => {
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

  test('kubernetes: readiness fails before a gateway stops, and the grace period covers its shutdown', async () => {
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
    // Routers must notice the failed probe before the gateway refuses connections.
    const heardMs = ((periodSeconds ?? 0) * (failureThreshold ?? 0) + (timeoutSeconds ?? 0)) * 1000;
    expect(http.drainMs).toBeGreaterThan(heardMs);
  });

  test('kubernetes: runs as non-root on a read-only file system', () => {
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
  /** The unit with an existing program in place of the installed one. */
  const unit = (): string => {
    const file = join(temporaryFolder('unit'), 'trunkline.service');
    writeFileSync(file, read('trunkline.service').replace('/usr/local/bin/trunkline', process.execPath));
    return file;
  };

  test('systemd unit: passes systemd-analyze verify', { tags: ['systemd'] }, () => {
    const { stderr, status } = spawnSync('systemd-analyze', ['verify', unit()], { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });

  test('systemd unit: is at most as exposed as docs/deploy.md states', { tags: ['systemd'] }, () => {
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
  test('nginx.conf: passes nginx -t', { tags: ['nginx'] }, () => {
    const file = join(temporaryFolder('nginx'), 'nginx.conf');
    writeFileSync(file, nginxConfig(['172.31.77.11:7332'], '8080'));
    const { stderr, status } = spawnSync('nginx', ['-t', '-e', 'stderr', '-c', file], { encoding: 'utf8' });
    expect(status, stderr).toBe(0);
  });

  test('nginx.conf: does not retry sent requests, pin clients or buffer responses', () => {
    const text = read('nginx.conf').replaceAll(/#.*/g, '');
    expect(text).not.toMatch(/non_idempotent|keepalive|ip_hash|sticky/);
    expect(text).toMatch(/proxy_buffering off;/);
  });
});
