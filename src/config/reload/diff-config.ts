import { canonicalJson } from '../../core/lib/canonical-json.ts';
import type { UpstreamName } from '../../core/ids.ts';
import type { ConfigSnapshot, GatewayConfig, UpstreamConfig } from '../config.ts';

type Setting = Exclude<keyof GatewayConfig, 'upstreams'>;

/** The differences between two configurations. A server that is in no list is unchanged. */
export interface ConfigDiff {
  readonly added: readonly UpstreamName[];
  /** Servers with another transport or sign-in, whose connections must be replaced. */
  readonly reopened: readonly UpstreamName[];
  /** Servers with other settings, whose connections stay open. */
  readonly adjusted: readonly UpstreamName[];
  /** Servers that were in use and no longer are: disabled, unusable or removed. */
  readonly left: readonly UpstreamName[];
  /** Servers that are no longer in the file, whether they were in use or not. */
  readonly gone: readonly UpstreamName[];
  readonly settings: readonly Setting[];
}

export function diffConfig(before: ConfigSnapshot, after: ConfigSnapshot): ConfigDiff {
  const [oldServers, newServers] = [indexByName(before), indexByName(after)];
  const changed = [...newServers.values()].flatMap((upstream) => {
    const old = oldServers.get(upstream.name);
    return old === undefined || isEqual(old, upstream) ? [] : [{ old, upstream }];
  });
  const reopened = changed.filter(({ old, upstream }) => !hasSameConnection(old, upstream));
  const adjusted = changed.filter(({ old, upstream }) => hasSameConnection(old, upstream));
  const present = new Set([...newServers.keys(), ...after.disabled, ...after.unusable]);
  return {
    added: [...newServers.keys()].filter((name) => !oldServers.has(name)),
    reopened: reopened.map(({ upstream: { name } }) => name),
    adjusted: adjusted.map(({ upstream: { name } }) => name),
    left: [...oldServers.keys()].filter((name) => !newServers.has(name)),
    gone: [...oldServers.keys(), ...before.disabled, ...before.unusable].filter((name) => !present.has(name)),
    settings: listChangedSettings(before.value, after.value),
  };
}

function indexByName({ value }: ConfigSnapshot): ReadonlyMap<UpstreamName, UpstreamConfig> {
  return new Map(value.upstreams.map((upstream) => [upstream.name, upstream]));
}

/** Whether a connection made with one configuration is valid for the other. */
function hasSameConnection(one: UpstreamConfig, other: UpstreamConfig): boolean {
  const connectionKey = ({ fingerprint, share, auth, transport }: UpstreamConfig): string =>
    canonicalJson({ fingerprint, share, auth, transport });
  return connectionKey(one) === connectionKey(other);
}

function listChangedSettings(before: GatewayConfig, after: GatewayConfig): readonly Setting[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)] as (keyof GatewayConfig)[]);
  return [...keys].filter(
    (key): key is Setting => key !== 'upstreams' && !isEqual(before[key] ?? null, after[key] ?? null),
  );
}

function isEqual(one: unknown, other: unknown): boolean {
  return one === other || canonicalJson(one) === canonicalJson(other);
}
