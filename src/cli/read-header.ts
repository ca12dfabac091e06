import { GatewayError } from '../model/errors.ts';

interface Header {
  readonly name: string;
  readonly value: string;
}

/** What `--header` was given: as it stands in a request, or like every other option that has a name and a value. */
export function readHeader(text: string): Header {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+)\s*[:=]\s*(\S.*)$/.exec(text) ?? [];
  if (name !== undefined && value !== undefined) return { name, value };
  // What was given may be a secret, so it is not repeated.
  throw new GatewayError(
    'USAGE',
    '--header needs a name and a value, as --header "Name: value" or --header NAME=VALUE.',
  );
}
