import { isJsonObject } from '../../../model/json.ts';

/** What an authorization server answered instead of what was asked for; its own words are kept for the person. */
export class OAuthError extends Error {
  /** `invalid_grant`, `access_denied` and so on; absent where the answer was no OAuth error. */
  readonly error: string | undefined;
  readonly status: number;

  constructor(message: string, options: { readonly error?: string | undefined; readonly status?: number }) {
    super(message);
    this.name = 'OAuthError';
    this.error = options.error;
    this.status = options.status ?? 0;
  }

  /** The grant itself is dead; anything else may pass. */
  get endsGrant(): boolean {
    return (
      this.error === 'invalid_grant' ||
      this.error === 'invalid_client' ||
      this.error === 'unauthorized_client'
    );
  }
}

const MAX_TEXT = 500;

/** Reads the error out of an answer of any form; the server's text stays as it is, without control characters and bounded. */
export function errorFromAnswer(
  what: string,
  answer: { readonly status: number; readonly text: string },
): OAuthError {
  const { status, text } = answer;
  const value = parsed(text);
  const error = isJsonObject(value) && typeof value['error'] === 'string' ? value['error'] : undefined;
  const description =
    isJsonObject(value) && typeof value['error_description'] === 'string'
      ? value['error_description']
      : undefined;
  if (error !== undefined) {
    const said = description === undefined ? plain(error) : `${plain(description)} (${plain(error)})`;
    return new OAuthError(`${what}: ${said}`, { error, status });
  }
  const body = /^\s*</.test(text) ? '' : plain(text);
  return new OAuthError(`${what}: HTTP ${status}${body === '' ? '' : `, ${body}`}`, { status });
}

/** Of the error that a browser brought back. */
export function errorFromCallback(error: string, description: string | null): OAuthError {
  const said =
    description === null || description === '' ? plain(error) : `${plain(description)} (${plain(error)})`;
  return new OAuthError(`The authorization server refused: ${said}`, { error });
}

/** Text of a foreign server for a terminal: one line, no control characters. */
export function plain(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, MAX_TEXT);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // GitHub and others of its age answer forms.
    return text.includes('error=') ? Object.fromEntries(new URLSearchParams(text)) : undefined;
  }
}

/** Whether the server will never take the grant again. */
export function isOver(error: unknown): error is OAuthError {
  return error instanceof OAuthError && error.endsGrant;
}
