/** Much of what we show was said by servers, and must not control somebody's terminal nor turn its text around. */
export function harmless(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '');
}

/** As one line, for a cell of a table; of several the first that says something. What is no text says nothing. */
export function inOneLine(...texts: readonly unknown[]): string {
  for (const text of texts) {
    if (typeof text !== 'string') continue;
    const line = harmless(text.replaceAll(/\s+/g, ' ')).trim();
    if (line !== '') return line;
  }
  return '';
}
