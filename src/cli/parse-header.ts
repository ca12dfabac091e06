import { GatewayError } from '../core/errors.ts';

interface Header {
  readonly name: string;
  readonly value: string;
}

/** Parses the value of `--header`, which is `Name: value` or `NAME=VALUE`. */
export function parseHeader(text: string): Header {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+)\s*[:=]\s*(\S.*)$/.exec(text) ?? [];
  if (name !== undefined && value !== undefined) return { name, value };
  // The value may be a secret, so the message does not repeat it.
  throw new GatewayError(
    'USAGE',
    '--header needs a name and a value. Write --header "Name: value" or --header NAME=VALUE.',
  );
}
