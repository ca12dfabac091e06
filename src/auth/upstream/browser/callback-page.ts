/** The page that the browser shows when it comes back: self-contained, and careful with foreign text. */
export function callbackPage(options: {
  readonly title: string;
  readonly text: string;
  readonly isGood: boolean;
}): {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
} {
  const { title, text, isGood } = options;
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>
  :root { color-scheme: light dark; }
  body { font: 1.05rem/1.5 system-ui, sans-serif; display: grid; place-items: center; min-height: 90vh; margin: 0; }
  main { max-width: 34rem; padding: 2rem; }
  h1 { font-size: 1.5rem; margin: 0 0 0.5rem; }
  h1::before { content: "${isGood ? '✓' : '✕'}"; margin-right: 0.5rem; color: ${isGood ? '#1a7f37' : '#cf222e'}; }
  p { margin: 0; overflow-wrap: anywhere; }
</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<p>${escaped(text)}</p>
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

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
