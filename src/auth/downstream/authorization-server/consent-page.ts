import { createHash } from 'node:crypto';

import type { WebResponse } from '../web-request.ts';

interface ConsentPageContent {
  readonly transaction: string;
  /** The name that the client claims; it is unverified. */
  readonly clientName: string;
  /** The host that publishes the client, if its id is an address. */
  readonly clientHost: string | undefined;
  readonly redirect: string;
  readonly resource: string;
  /** Why the last attempt failed. */
  readonly problem: string | undefined;
}

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:10vh auto;padding:0 1rem;color:#1a1a1a;background:#fff}
h1{font-size:1.4rem}code{font:inherit;font-weight:600;overflow-wrap:anywhere;unicode-bidi:isolate}
code.address{display:block;max-height:6rem;overflow:auto;font-weight:400}label{display:block;margin:1.5rem 0 .3rem}
input{width:100%;box-sizing:border-box;font:inherit;padding:.5rem}p.problem{color:#a40000}
button{font:inherit;padding:.5rem 1.2rem;margin:1rem .5rem 0 0}
@media (prefers-color-scheme:dark){body{color:#eee;background:#161616}p.problem{color:#ff8f8f}input,button{color:inherit;background:#2a2a2a;border:1px solid #777}}`;
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Renders the page that asks a person for consent and for a key as proof of identity. Escapes everything that comes from the client. */
export function renderConsentPage(
  page: ConsentPageContent,
  status = 200,
  headers: readonly string[] = [],
): WebResponse {
  const name = page.clientName === '' ? 'A program without a name' : `“${page.clientName}”`;
  const origin =
    page.clientHost === undefined
      ? 'This name is not verified: anyone can register under any name.'
      : `It is published at ${page.clientHost}.`;
  return renderHtml(
    status,
    'Allow access to Trunkline?',
    `<h1>Allow access to Trunkline?</h1>
<p><code>${escapeHtml(name)}</code> wants to use the tools behind this gateway with your rights. ${escapeHtml(origin)}</p>
<p>If you agree, your browser goes to ${describeTarget(page.redirect)}. Agree only if you started this yourself just now.</p>
<p>The whole address is <code class="address">${escapeHtml(new URL(page.redirect).href)}</code></p>
<p>Access is for <code>${escapeHtml(page.resource)}</code> and ends when your key does.</p>
${page.problem === undefined ? '' : `<p class="problem" role="alert">${escapeHtml(page.problem)}</p>`}
<form method="post" action="/oauth/authorize" autocomplete="off">
<input type="hidden" name="transaction" value="${escapeHtml(page.transaction)}">
<label for="key">Your key (begins with tl_)</label>
<input id="key" name="key" type="password" maxlength="200" autofocus>
<button name="decision" value="allow">Allow</button><button name="decision" value="deny" formnovalidate>Deny</button>
</form>`,
    { headers, formTarget: page.redirect },
  );
}

/** Returns HTML that names the recipient of the code: the host of the address, or the scheme of a program. */
function describeTarget(uri: string): string {
  const { protocol, host } = new URL(uri);
  return /^https?:$/.test(protocol)
    ? `<code>${escapeHtml(host)}</code>`
    : `a program that opens <code>${escapeHtml(protocol)}</code> addresses`;
}

/** Renders an error for the person, without a redirect to the client. */
export function renderErrorPage(status: number, problem: string): WebResponse {
  const title = 'This request cannot continue';
  return renderHtml(status, title, `<h1>${title}</h1>\n<p>${escapeHtml(problem)}</p>`, {});
}

/** Renders an error with a link to the client instead of a redirect, because no person has consented to this client yet. */
export function renderErrorWithLink(problem: string, target: string): WebResponse {
  const title = 'This request cannot continue';
  const link = `<a href="${escapeHtml(target)}" rel="noreferrer">Continue to <code class="address">${escapeHtml(target)}</code></a>`;
  return renderHtml(
    400,
    title,
    `<h1>${title}</h1>
<p>The program that sent you here made a mistake: ${escapeHtml(problem)}</p>
<p>You can close this page. Anyone can register an address here, so follow this link only if you know where it leads:</p>
<p>${link}</p>`,
    {},
  );
}

function renderHtml(
  status: number,
  title: string,
  body: string,
  options: { readonly headers?: readonly string[]; readonly formTarget?: string },
): WebResponse {
  const { headers = [], formTarget } = options;
  // Some browsers also apply `form-action` to the redirect that follows the form, so the policy must allow its target.
  const forms = formTarget === undefined ? "'none'" : `'self' ${cspSource(formTarget)}`;
  const policy = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action ${forms}; frame-ancestors 'none'; base-uri 'none'`;
  return {
    status,
    headers: [
      'Content-Type',
      'text/html; charset=utf-8',
      'Cache-Control',
      'no-store',
      'Content-Security-Policy',
      policy,
      'X-Frame-Options',
      'DENY',
      'X-Content-Type-Options',
      'nosniff',
      // With `no-referrer`, browsers would not send the origin of the form.
      'Referrer-Policy',
      'same-origin',
      'Cross-Origin-Opener-Policy',
      'same-origin',
      ...headers,
    ],
    body: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title><style>${STYLE}</style></head>
<body>
${body}
</body></html>
`,
  };
}

/** Returns the origin of a web address, or the scheme of any other address. */
function cspSource(uri: string): string {
  const { protocol, origin } = new URL(uri);
  return protocol === 'https:' || protocol === 'http:' ? origin : protocol;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
