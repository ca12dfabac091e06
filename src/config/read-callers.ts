import { nearest } from '../lib/nearest.ts';
import type { CallersConfig } from './callers-config.ts';
import type { DocumentPath } from './file/document.ts';
import type { ConfigFile } from './schema/schema.ts';

interface Problem {
  readonly path: DocumentPath;
  readonly message: string;
}

type Auth = NonNullable<ConfigFile['auth']>;

/** How callers prove who they are, as the gateway uses it. A profile that does not exist is a problem, never ignored. */
export function readCallers({ auth, profiles }: Pick<ConfigFile, 'auth' | 'profiles'>): {
  readonly auth?: CallersConfig;
  readonly problems: readonly Problem[];
} {
  if (auth === undefined) return { problems: [] };
  const known = ['default', ...Object.keys(profiles)];
  const problems = (['forwarded', 'jwt'] as const).flatMap((provider) => {
    const profile = auth[provider]?.profile;
    if (profile === undefined || known.includes(profile)) return [];
    const [near] = nearest(profile, known, 1);
    const hint = near === undefined ? '' : `; did you mean "${near}"?`;
    return [{ path: ['auth', provider, 'profile'], message: `there is no profile "${profile}"${hint}` }];
  });
  return { auth: callersConfig(auth), problems };
}

function callersConfig({ keys, forwarded, jwt, authorizationServer }: Auth): CallersConfig {
  return {
    keys,
    ...(forwarded && {
      forwarded: {
        from: forwarded.from,
        user: forwarded.user.toLowerCase(),
        ...(forwarded.groups !== undefined && { groups: forwarded.groups.toLowerCase() }),
        ...defaultsOf(forwarded),
      },
    }),
    ...(jwt && { jwt: jwtConfig(jwt) }),
    ...(authorizationServer && { authorizationServer: serverConfig(authorizationServer) }),
  };
}

function jwtConfig(jwt: NonNullable<Auth['jwt']>): NonNullable<CallersConfig['jwt']> {
  const { issuer, audience, jwksUrl, algorithms, clockSkew, scopes } = jwt;
  const { profile, tier, ...claims } = jwt.claims;
  return {
    ...{ issuer, audience, algorithms, scopes, clockSkewMs: clockSkew },
    ...(jwksUrl !== undefined && { jwksUrl }),
    claims: { ...claims, ...(profile !== undefined && { profile }), ...(tier !== undefined && { tier }) },
    ...defaultsOf(jwt),
  };
}

function serverConfig({
  accessTokenLife,
  refreshTokenLife,
  ...rest
}: NonNullable<Auth['authorizationServer']>): NonNullable<CallersConfig['authorizationServer']> {
  return { ...rest, accessTokenMs: accessTokenLife, refreshTokenMs: refreshTokenLife };
}

function defaultsOf({ profile, tier }: Pick<NonNullable<Auth['jwt']>, 'profile' | 'tier'>) {
  return { ...(profile !== undefined && { profile }), ...(tier !== undefined && { tier }) };
}
