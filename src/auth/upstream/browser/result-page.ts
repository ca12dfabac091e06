/** The content of the page that the browser shows when it returns. */
export interface ResultPage {
  readonly title: string;
  readonly text: string;
  readonly isSuccess: boolean;
}

/** Renders the page without external resources. Escapes all text, because some of it comes from other servers. */
export function renderResultPage({ title, text, isSuccess }: ResultPage): {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
} {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>
  :root { color-scheme: light dark; }
  body { font: 1.05rem/1.5 system-ui, sans-serif; display: grid; place-items: center; min-height: 90vh; margin: 0; }
  main { max-width: 34rem; padding: 2rem; }
  h1 { font-size: 1.5rem; margin: 0 0 0.5rem; }
  h1::before { content: "${isSuccess ? '✓' : '✕'}"; margin-right: 0.5rem; color: ${isSuccess ? '#1a7f37' : '#cf222e'}; }
  p { margin: 0; overflow-wrap: anywhere; }
</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(text)}</p>
</main>
</body>
</html>
`;
  return {
    html,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      Connection: 'close',
    },
  };
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
