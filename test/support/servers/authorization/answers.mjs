import { note } from '../engine/note.mjs';

export function json(response, status, body, headers = {}) {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** An OAuth error in the format of RFC 6749. It is logged, so that tests can check the reason. */
export class OAuthRefusal extends Error {
  constructor(error, description, status = 400) {
    super(description);
    this.error = error;
    this.status = status;
  }

  send(response) {
    note('refused', { error: this.error, description: this.message });
    json(response, this.status, { error: this.error, error_description: this.message });
  }
}

export async function formOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return new URLSearchParams(Buffer.concat(chunks).toString());
}

export function pause(ms) {
  return ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : undefined;
}
