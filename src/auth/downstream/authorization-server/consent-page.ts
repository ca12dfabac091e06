import { createHash } from 'node:crypto';

import type { WebReply } from '../web.ts';

export interface ConsentPage {
  readonly transaction: string;
  /** As the client says; anybody can say anything. */
  readonly clientName: string;
  /** Where the client is from, if its id tells. */
  readonly clientHost: string | undefined;
  readonly redirect: string;
  readonly resource: string;
  /** What went wrong with the last try. */
  readonly problem?: string;
}

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:10vh auto;padding:0 1rem;color:#1a1a1a;background:#fff}
h1{font-size:1.4rem}code{font:inherit;font-weight:600;overflow-wrap:anywhere}label{display:block;margin:1.5rem 0 .3rem}
input{width:100%;box-sizing:border-box;font:inherit;padding:.5rem}p.problem{color:#a40000}
button{font:inherit;padding:.5rem 1.2rem;margin:1rem .5rem 0 0}
@media (prefers-color-scheme:dark){body{color:#eee;background:#161616}p.problem{color:#ff8f8f}input,button{color:inherit;background:#2a2a2a;border:1px solid #777}}`;
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Asks a person, who proves with a key who they are. Everything a client said is text. */
export function consentPage(page: ConsentPage, status = 200, headers: readonly string[] = []): WebReply {
  const name = page.clientName === '' ? 'A program without a name' : `“${page.clientName}”`;
  const from =
    page.clientHost === undefined
      ? 'Nobody has checked that name: anybody can register under any name.'
      : `It is published at ${page.clientHost}.`;
  return htmlReply(
    status,
    'Allow access to Trunkline?',
    `<h1>Allow access to Trunkline?</h1>
<p><code>${text(name)}</code> wants to use the tools behind this gateway with your rights. ${text(from)}</p>
<p>If you agree, you are sent to <code>${text(page.redirect)}</code>. Agree only if you have just begun this yourself.</p>
<p>Access is for <code>${text(page.resource)}</code> and ends when your key does.</p>
${page.problem === undefined ? '' : `<p class="problem" role="alert">${text(page.problem)}</p>`}
<form method="post" action="/oauth/authorize" autocomplete="off">
<input type="hidden" name="transaction" value="${text(page.transaction)}">
<label for="key">Your key (begins with tl_)</label>
<input id="key" name="key" type="password" maxlength="200" autofocus>
<button name="decision" value="allow">Allow</button><button name="decision" value="deny" formnovalidate>Deny</button>
</form>`,
    { headers, formTarget: page.redirect },
  );
}

/** For a person whose client made a mistake, so that there is nowhere to send them back to. */
export function problemPage(status: number, problem: string): WebReply {
  return htmlReply(status, 'This cannot go on', `<h1>This cannot go on</h1>\n<p>${text(problem)}</p>`, {});
}

function htmlReply(
  status: number,
  title: string,
  body: string,
  more: { readonly headers?: readonly string[]; readonly formTarget?: string },
): WebReply {
  const { headers = [], formTarget } = more;
  // Some browsers apply it to where the answer to the form leads, too.
  const forms = formTarget === undefined ? "'none'" : `'self' ${sourceOf(formTarget)}`;
  const policy = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action ${forms}; frame-ancestors 'none'; base-uri 'none'`;
  return {
    status,
    headers: [
      ...['Content-Type', 'text/html; charset=utf-8', 'Cache-Control', 'no-store'],
      ...['Content-Security-Policy', policy, 'X-Frame-Options', 'DENY', 'X-Content-Type-Options', 'nosniff'],
      // Not `no-referrer`: then browsers would not say where the form came from.
      ...['Referrer-Policy', 'same-origin', 'Cross-Origin-Opener-Policy', 'same-origin'],
      ...headers,
    ],
    body: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${text(title)}</title><style>${STYLE}</style></head>
<body>
${body}
</body></html>
`,
  };
}

function sourceOf(uri: string): string {
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

function text(value: string): string {
  return value.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
