import { findSimilar } from '../core/lib/find-similar.ts';
import type { CallersConfig } from './callers-config.ts';
import type { DocumentProblem } from './file/document.ts';
import type { ConfigFile } from './schema/schema.ts';

type AuthSettings = NonNullable<ConfigFile['auth']>;

/** Converts `auth` to the gateway's form. Reports each name of a profile that does not exist as a problem. */
export function readCallers({ auth, profiles }: Pick<ConfigFile, 'auth' | 'profiles'>): {
  readonly auth?: CallersConfig;
  readonly problems: readonly Omit<DocumentProblem, 'offset'>[];
} {
  if (auth === undefined) return { problems: [] };
  const known = ['default', ...Object.keys(profiles)];
  const problems = (['forwarded', 'jwt'] as const).flatMap((provider) => {
    const profile = auth[provider]?.profile;
    if (profile === undefined || known.includes(profile)) return [];
    const [suggestion] = findSimilar(profile, known, 1);
    const hint = suggestion === undefined ? '' : `; did you mean "${suggestion}"?`;
    return [{ path: ['auth', provider, 'profile'], message: `there is no profile "${profile}"${hint}` }];
  });
  return { auth: convertAuth(auth), problems };
}

function convertAuth({ keys, forwarded, jwt, authorizationServer }: AuthSettings): CallersConfig {
  return {
    keys,
    forwarded: forwarded && {
      ...forwarded,
      user: forwarded.user.toLowerCase(),
      groups: forwarded.groups?.toLowerCase(),
    },
    jwt: jwt && convertJwt(jwt),
    authorizationServer: authorizationServer && convertAuthorizationServer(authorizationServer),
  };
}

function convertJwt({
  clockSkew,
  ...rest
}: NonNullable<AuthSettings['jwt']>): NonNullable<CallersConfig['jwt']> {
  return { ...rest, clockSkewMs: clockSkew };
}

function convertAuthorizationServer({
  accessTokenLife,
  refreshTokenLife,
  ...rest
}: NonNullable<AuthSettings['authorizationServer']>): NonNullable<CallersConfig['authorizationServer']> {
  return { ...rest, accessTokenMs: accessTokenLife, refreshTokenMs: refreshTokenLife };
}
