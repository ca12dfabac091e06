import { canonicalJson } from '../../lib/canonical-json.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { ConfigSnapshot, GatewayConfig, UpstreamConfig } from '../config.ts';

type Setting = Exclude<keyof GatewayConfig, 'upstreams'>;

/** What is different between two configurations; servers that are in none of the lists are as they were. */
export interface ConfigDiff {
  readonly added: readonly UpstreamName[];
  /** Reached in another way, so that their connections are of no use any more. */
  readonly reopened: readonly UpstreamName[];
  /** Otherwise in what we do with them; their connections stay. */
  readonly adjusted: readonly UpstreamName[];
  /** In use before and not any more: disabled, left out because of a mistake, or gone. */
  readonly left: readonly UpstreamName[];
  /** Those that the file does not have any more, whether they were in use or not. */
  readonly gone: readonly UpstreamName[];
  readonly settings: readonly Setting[];
}

export function diffConfig(before: ConfigSnapshot, after: ConfigSnapshot): ConfigDiff {
  const [old, now] = [byName(before), byName(after)];
  const common = [...now.values()].flatMap((upstream) => {
    const earlier = old.get(upstream.name);
    return earlier === undefined || isSame(earlier, upstream) ? [] : [{ earlier, upstream }];
  });
  const isReopened = ({ earlier, upstream }: (typeof common)[number]): boolean =>
    !isReachedTheSame(earlier, upstream);
  const present = new Set([...now.keys(), ...after.disabled, ...after.unusable]);
  return {
    added: [...now.keys()].filter((name) => !old.has(name)),
    reopened: common.filter(isReopened).map(({ upstream: { name } }) => name),
    adjusted: common.filter((pair) => !isReopened(pair)).map(({ upstream: { name } }) => name),
    left: [...old.keys()].filter((name) => !now.has(name)),
    gone: [...old.keys(), ...before.disabled, ...before.unusable].filter((name) => !present.has(name)),
    settings: changedSettings(before.value, after.value),
  };
}

/** Whether a connection made with one configuration is what the other would make. */
function isReachedTheSame(one: UpstreamConfig, other: UpstreamConfig): boolean {
  const facts = ({ fingerprint, share, auth, transport }: UpstreamConfig): string =>
    canonicalJson({ fingerprint, share, auth, transport });
  return facts(one) === facts(other);
}

function changedSettings(before: GatewayConfig, after: GatewayConfig): readonly Setting[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)] as (keyof GatewayConfig)[]);
  return [...keys].filter(
    (key): key is Setting => key !== 'upstreams' && !isSame(before[key] ?? null, after[key] ?? null),
  );
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || canonicalJson(one) === canonicalJson(other);
}

function byName({ value }: ConfigSnapshot): ReadonlyMap<UpstreamName, UpstreamConfig> {
  return new Map(value.upstreams.map((upstream) => [upstream.name, upstream]));
}
