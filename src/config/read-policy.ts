import { nearest } from '../lib/nearest.ts';
import type { DocumentPath } from './file/document.ts';
import type { PolicyConfig, ProfileConfig, RuleConfig, Selection } from './policy-config.ts';
import type { ConfigFile } from './schema/schema.ts';

interface Problem {
  readonly path: DocumentPath;
  readonly message: string;
}

/** What rules and profiles may name: servers that are written down, working or not, and their tags. */
interface Known {
  readonly servers: readonly string[];
  readonly tags: readonly string[];
}

/** Rules and profiles as the gateway uses them. What names something that does not exist is a problem, never ignored. */
export function readPolicy(
  { policy, profiles }: Pick<ConfigFile, 'policy' | 'profiles'>,
  known: Known,
): {
  readonly policy: PolicyConfig;
  readonly profiles: Readonly<Record<string, ProfileConfig>>;
  readonly problems: readonly Problem[];
} {
  const profileNames = ['default', ...Object.keys(profiles)];
  const problems = [
    ...Object.entries(profiles).flatMap(([name, profile]) => unknown(profile, ['profiles', name], known)),
    ...policy.rules.flatMap((rule, at) => [
      ...unknown(rule, ['policy', 'rules', at], known),
      ...strangers(
        rule.profiles,
        { word: 'profile', path: ['policy', 'rules', at, 'profiles'] },
        profileNames,
      ),
      ...(policy.rules.findIndex(({ id }) => id === rule.id) < at
        ? [{ path: ['policy', 'rules', at, 'id'], message: `two rules are called "${rule.id}"` }]
        : []),
    ]),
  ];
  return {
    policy: {
      default: policy.default,
      rules: policy.rules.map(ruleConfig),
      ask: { by: policy.askBy, waitMs: policy.askWait },
    },
    profiles: Object.fromEntries(
      Object.entries(profiles).map(([name, { description, expose, ...what }]) => [
        name,
        {
          what: given(what),
          ...(description !== undefined && { description }),
          ...(expose !== undefined && { expose }),
        },
      ]),
    ),
    problems,
  };
}

function ruleConfig(rule: ConfigFile['policy']['rules'][number]): RuleConfig {
  const { id, effect, message, callers, groups, roles, profiles, ...what } = rule;
  return {
    id,
    effect,
    who: given({ callers, groups, roles, profiles }),
    what: given(what),
    ...(message !== undefined && { message }),
  };
}

type Given<T> = { readonly [Key in keyof T]?: Exclude<T[Key], undefined> };

function given<T extends object>(value: T): Given<T> {
  // Only members without a value are left out.
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Given<T>;
}

function unknown(
  { servers, tags }: { readonly [Key in 'servers' | 'tags']?: Selection[Key] | undefined },
  path: DocumentPath,
  known: Known,
): readonly Problem[] {
  return [
    ...strangers(servers, { word: 'server', path: [...path, 'servers'] }, known.servers),
    ...strangers(tags, { word: 'tag', path: [...path, 'tags'] }, known.tags),
  ];
}

/** A glob may match what comes later; a plain name must be there. */
function strangers(
  names: readonly string[] | undefined,
  { word, path }: { readonly word: string; readonly path: DocumentPath },
  known: readonly string[],
): readonly Problem[] {
  return (names ?? []).flatMap((name, at) => {
    if (/[*?]/.test(name) || known.includes(name)) return [];
    const [near] = nearest(name, known, 1);
    const hint = near === undefined ? '' : `; did you mean "${near}"?`;
    return [{ path: [...path, at], message: `there is no ${word} "${name}"${hint}` }];
  });
}
