import { refused } from './verdict.ts';
import type { Asked, Authenticate, Provider, Verdict } from './verdict.ts';

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i;
const MAX_TOKEN = 8192;

/** Tries the providers in order. Whoever shows something that none of them accepts is refused, never taken for nobody. */
export function authenticate(
  providers: readonly Provider[],
  options: { readonly hasProfile: (name: string) => boolean },
): Authenticate {
  return (asked) => {
    const doubled = doubledHeader(asked.rawHeaders);
    if (doubled !== undefined)
      return refused(`The header ${doubled} is there more than once.`, {
        status: 400,
        error: 'invalid_request',
      });
    const { authorization } = asked.headers;
    const [, token] = BEARER.exec(authorization ?? '') ?? [];
    if (authorization !== undefined && (token === undefined || token.length > MAX_TOKEN))
      return refused('Authorization must be "Bearer" and a key or token.', { error: 'invalid_token' });
    for (const provider of providers) {
      const verdict = provider(asked, token);
      if (verdict instanceof Promise) return verdict.then(checked);
      if (verdict !== undefined) return checked(verdict);
    }
    return token === undefined
      ? refused('Show a key or token: send the header "Authorization: Bearer …".')
      : refused('This key or token is not valid here.', { error: 'invalid_token' });
  };

  /** Without its selection a profile would be everything, so a caller of one that is gone is not let in. */
  function checked(verdict: Verdict): Verdict {
    if (!('admission' in verdict) || options.hasProfile(verdict.admission.caller.profile)) return verdict;
    return refused('The profile of this caller does not exist any more.', { status: 403 });
  }
}

/** One object, since rules are looked up by it. */
const ANYBODY: Verdict = {
  admission: { caller: { id: 'local', via: 'http', profile: 'default' }, isBound: false },
};

/** Nobody has to prove anything; that is why only loopback is served. What is shown all the same is not ignored. */
export const admitLocal: Authenticate = ({ headers }) => {
  if (headers.authorization !== undefined)
    return refused(
      'This gateway accepts no keys or tokens, since its configuration has no "auth"; send none, or add "auth": { "keys": true }.',
      { error: 'invalid_token' },
    );
  return ANYBODY;
};

/** Of these, Node shows the first and hides the others, while a proxy in front may have looked at the last. */
const SINGLE = new Set(['authorization', 'host', 'origin', 'mcp-session-id']);

function doubledHeader(raw: Asked['rawHeaders']): string | undefined {
  let seen: string[] | undefined;
  for (let at = 0; at < raw.length; at += 2) {
    const name = (raw[at] ?? '').toLowerCase();
    if (!SINGLE.has(name)) continue;
    if (seen?.includes(name) === true) return name;
    (seen ??= []).push(name);
  }
  return undefined;
}
