import { isJsonObject } from '../../../core/json.ts';
import { sanitizeText } from '../../../core/lib/sanitize-text.ts';

/** An error response of an authorization server; the message quotes the server. */
export class OAuthError extends Error {
  /** The OAuth error code, such as `invalid_grant`; undefined if the response was not an OAuth error. */
  readonly error: string | undefined;
  /** The HTTP status; 0 if there was no HTTP response. */
  readonly status: number;

  constructor(message: string, options: { readonly error?: string | undefined; readonly status?: number }) {
    super(message);
    this.name = 'OAuthError';
    this.error = options.error;
    this.status = options.status ?? 0;
  }
}

/** Whether the server rejected the grant permanently. Any other error may be temporary. */
export function isGrantRejected(error: unknown): error is OAuthError {
  return (
    error instanceof OAuthError &&
    (error.error === 'invalid_grant' ||
      error.error === 'invalid_client' ||
      error.error === 'unauthorized_client')
  );
}

/** Builds an error from a response of any form. Shortens the text of the server and removes its control characters. */
export function errorFromResponse(
  problem: string,
  response: { readonly status: number; readonly text: string },
): OAuthError {
  const { status, text } = response;
  const body = parseErrorBody(text);
  const { error, error_description: description } = isJsonObject(body) ? body : {};
  if (typeof error === 'string') {
    const said = describeError(error, typeof description === 'string' ? description : undefined);
    return new OAuthError(`${problem}: ${said}`, { error, status });
  }
  // An HTML page would not help in an error message.
  const excerpt = /^\s*</.test(text) ? '' : sanitizeText(text);
  return new OAuthError(`${problem}: HTTP ${status}${excerpt === '' ? '' : `, ${excerpt}`}`, { status });
}

/** Builds an error from the parameters of the redirect to our callback. */
export function errorFromCallback(error: string, description: string | null): OAuthError {
  const said = describeError(error, description === '' || description === null ? undefined : description);
  return new OAuthError(`The authorization server refused: ${said}`, { error });
}

function describeError(error: string, description: string | undefined): string {
  return description === undefined
    ? sanitizeText(error)
    : `${sanitizeText(description)} (${sanitizeText(error)})`;
}

function parseErrorBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Some older servers, such as GitHub, send a form.
    return text.includes('error=') ? Object.fromEntries(new URLSearchParams(text)) : undefined;
  }
}
