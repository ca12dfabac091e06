import { createHash, randomBytes } from 'node:crypto';

import { expect } from 'vitest';

import { type HttpResponse, sendRequest } from './http-requests.ts';

export const REDIRECT = 'http://127.0.0.1:9/callback';

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

export function parseTokens({ status, text }: HttpResponse): Tokens {
  expect(status, text).toBe(200);
  return JSON.parse(text) as Tokens;
}

/** A registered OAuth client without the SDK, for requests that the SDK would never send. */
export class OauthFlow {
  /** A function, because every request may go to another gateway. */
  readonly #url: () => string;
  readonly #client: string;
  readonly #verifier = randomBytes(32).toString('base64url');

  private constructor(url: () => string, client: string) {
    this.#url = url;
    this.#client = client;
  }

  static async begin(
    { url }: { readonly url: string | (() => string) },
    metadata: object = {},
  ): Promise<OauthFlow> {
    const at = typeof url === 'string' ? () => url : url;
    const body = JSON.stringify({ redirect_uris: [REDIRECT], ...metadata });
    const { text } = await sendRequest(new URL('/oauth/register', at()), { body });
    return new OauthFlow(at, (JSON.parse(text) as { client_id: string }).client_id);
  }

  address(changes: Readonly<Record<string, string>> = {}): string {
    const url = new URL('/oauth/authorize', this.#url());
    const code_challenge = createHash('sha256').update(this.#verifier).digest('base64url');
    const usual = { response_type: 'code', client_id: this.#client, redirect_uri: REDIRECT, state: 's' };
    const all = { ...usual, code_challenge, code_challenge_method: 'S256', ...changes };
    url.search = new URLSearchParams(all).toString();
    return url.href;
  }

  async code(key: string, changes: Readonly<Record<string, string>> = {}): Promise<string> {
    return (
      new URL(await approveInBrowser(this.address(changes), key, this.#url())).searchParams.get('code') ?? ''
    );
  }

  collect(code: string, changes: Readonly<Record<string, string>> = {}): Promise<HttpResponse> {
    const usual = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT };
    return this.#token({ ...usual, code_verifier: this.#verifier, ...changes });
  }

  refresh(refresh_token: string): Promise<HttpResponse> {
    return this.#token({ grant_type: 'refresh_token', refresh_token });
  }

  revoke(token: string): Promise<HttpResponse> {
    const body = new URLSearchParams({ client_id: this.#client, token }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return sendRequest(new URL('/oauth/revoke', this.#url()), { body, headers });
  }

  #token(form: Readonly<Record<string, string>>): Promise<HttpResponse> {
    const body = new URLSearchParams({ client_id: this.#client, ...form }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return sendRequest(new URL('/oauth/token', this.#url()), { body, headers });
  }
}

/** Approves the request as a person does in a browser, and returns the final URL. The decision may go to another gateway than the one that served the page. */
export async function approveInBrowser(address: string, key: string, decidedAt = address): Promise<string> {
  const page = await sendRequest(address);
  expect(page.status, page.text).toBe(200);
  const body = new URLSearchParams({ transaction: transactionOf(page), key, decision: 'allow' }).toString();
  const { origin } = new URL(decidedAt);
  const type = 'application/x-www-form-urlencoded';
  const headers = { cookie: cookieOf(page), origin, 'content-type': type, 'sec-fetch-site': 'same-origin' };
  const answer = await sendRequest(new URL('/oauth/authorize', decidedAt), { body, headers });
  return String(answer.headers.location);
}

export function transactionOf({ text }: HttpResponse): string {
  return /name="transaction" value="([^"]+)"/.exec(text)?.[1] ?? '';
}

export function cookieOf({ headers }: HttpResponse): string {
  return headers['set-cookie']?.[0]?.split(';')[0] ?? '';
}
