import { findSimilar } from '../core/lib/find-similar.ts';
import type { DocumentPath, DocumentProblem } from './file/document.ts';
import type { PolicyConfig, ProfileConfig, RuleConfig, Selection } from './policy-config.ts';
import type { ConfigFile } from './schema/schema.ts';

type PolicyProblem = Omit<DocumentProblem, 'offset'>;

/** The names that rules and profiles may refer to: all configured servers, usable or not, and their tags. */
interface KnownNames {
  readonly servers: readonly string[];
  readonly tags: readonly string[];
}

/** Converts rules and profiles to the gateway's form. Reports each name of a server, tag or profile that does not exist as a problem. */
export function readPolicy(
  { policy, profiles }: Pick<ConfigFile, 'policy' | 'profiles'>,
  known: KnownNames,
): {
  readonly policy: PolicyConfig;
  readonly profiles: Readonly<Record<string, ProfileConfig>>;
  readonly problems: readonly PolicyProblem[];
} {
  return {
    policy: {
      default: policy.default,
      rules: policy.rules.map(convertRule),
      ask: { by: policy.askBy, waitMs: policy.askWait },
    },
    profiles: Object.fromEntries(
      Object.entries(profiles).map(([name, { description, expose, ...what }]) => [
        name,
        { what, description, expose },
      ]),
    ),
    problems: findProblems({ policy, profiles }, known),
  };
}

function convertRule(rule: ConfigFile['policy']['rules'][number]): RuleConfig {
  const { id, effect, message, callers, groups, roles, profiles, ...what } = rule;
  return { id, effect, who: { callers, groups, roles, profiles }, what, message };
}

function findProblems(
  { policy, profiles }: Pick<ConfigFile, 'policy' | 'profiles'>,
  known: KnownNames,
): readonly PolicyProblem[] {
  const profileNames = ['default', ...Object.keys(profiles)];
  return [
    ...Object.entries(profiles).flatMap(([name, profile]) =>
      findUnknownSelection(profile, ['profiles', name], known),
    ),
    ...policy.rules.flatMap((rule, at) => {
      const path = ['policy', 'rules', at];
      const isDuplicate = policy.rules.findIndex(({ id }) => id === rule.id) < at;
      return [
        ...findUnknownSelection(rule, path, known),
        ...findUnknownNames(rule.profiles, { noun: 'profile', path: [...path, 'profiles'] }, profileNames),
        ...(isDuplicate
          ? [{ path: [...path, 'id'], message: `two rules have the id "${rule.id}"; rename one` }]
          : []),
      ];
    }),
  ];
}

function findUnknownSelection(
  { servers, tags }: Pick<Selection, 'servers' | 'tags'>,
  path: DocumentPath,
  known: KnownNames,
): readonly PolicyProblem[] {
  return [
    ...findUnknownNames(servers, { noun: 'server', path: [...path, 'servers'] }, known.servers),
    ...findUnknownNames(tags, { noun: 'tag', path: [...path, 'tags'] }, known.tags),
  ];
}

/** Reports plain names that do not exist. Accepts every glob, because it may match a name that is added later. */
function findUnknownNames(
  names: readonly string[] | undefined,
  { noun, path }: { readonly noun: string; readonly path: DocumentPath },
  known: readonly string[],
): readonly PolicyProblem[] {
  return (names ?? []).flatMap((name, at) => {
    if (/[*?]/.test(name) || known.includes(name)) return [];
    const [suggestion] = findSimilar(name, known, 1);
    const hint = suggestion === undefined ? '' : `; did you mean "${suggestion}"?`;
    return [{ path: [...path, at], message: `there is no ${noun} "${name}"${hint}` }];
  });
}
