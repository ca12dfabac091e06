import { BlockList, isIP } from 'node:net';

import type { ForwardedConfig } from '../../config/callers-config.ts';
import { rejectAuth } from './auth-result.ts';
import type { AuthProvider, AuthRequest } from './auth-result.ts';

const MAX_USER_CHARS = 200;
const MAX_GROUPS = 200;
/** Characters that appear if a proxy decoded a header wrongly, or if a caller smuggled them past the proxy. */
const UNSAFE_CHARACTERS = /[\p{Cc}\p{Cf}\uFFFD]/u;

/** Creates the provider for `auth.forwarded`. It reads the user from the headers of a trusted proxy, and ignores other senders. */
export function createForwardedProvider(config: ForwardedConfig): AuthProvider {
  const isProxy = createNetworkMatcher(config.from);
  const { user: userHeader, groups: groupsHeader, profile = 'default', tier } = config;
  const identityHeaders = groupsHeader === undefined ? [userHeader] : [userHeader, groupsHeader];
  return (request, token) => {
    // Another provider handles a request that has a token.
    if (token !== undefined || !isProxy(request.socket.remoteAddress)) return undefined;
    const repeated = identityHeaders.find((name) => countHeader(request.rawHeaders, name) > 1);
    if (repeated !== undefined)
      return rejectAuth(`The request has more than one ${repeated} header.`, { error: 'invalid_request' });
    const user = readHeader(request, userHeader);
    if (user === undefined) return undefined;
    if (user === '' || user.length > MAX_USER_CHARS || UNSAFE_CHARACTERS.test(user))
      return rejectAuth(
        `The header ${userHeader} is empty, longer than ${MAX_USER_CHARS} characters, or contains invalid characters.`,
        {
          error: 'invalid_request',
        },
      );
    const groups = groupsHeader === undefined ? [] : parseList(readHeader(request, groupsHeader) ?? '');
    if (groups === undefined)
      return rejectAuth(
        `The header ${groupsHeader} has more than ${MAX_GROUPS} groups, or contains invalid characters.`,
        { error: 'invalid_request' },
      );
    return {
      authenticated: {
        caller: {
          id: `user:${user}`,
          via: 'http',
          profile,
          groups,
          roles: [],
          tier,
        },
        isBound: config.profile !== undefined,
      },
    };
  };
}

/** Returns a function that tests whether an address is in one of the networks; an IPv4-mapped IPv6 address counts as IPv4. */
export function createNetworkMatcher(networks: readonly string[]): (address: string | undefined) => boolean {
  const subnets = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) subnets.addAddress(address, family);
    else subnets.addSubnet(address, Number(prefix), family);
  }
  return (address) => {
    if (address === undefined) return false;
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
    const version = isIP(plain);
    return version !== 0 && subnets.check(plain, version === 6 ? 'ipv6' : 'ipv4');
  };
}

function countHeader(rawHeaders: readonly string[], name: string): number {
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length;
}

function readHeader({ headers }: AuthRequest, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value.trim() : undefined;
}

function parseList(text: string): readonly string[] | undefined {
  const parts = text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));
  return parts.length > MAX_GROUPS || UNSAFE_CHARACTERS.test(text) ? undefined : parts;
}
