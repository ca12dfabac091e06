const CLOSING: Readonly<Record<string, string>> = { '[': ']', '(': ')', '<': '>', '{': '}' };

/** Cut at spaces that are in no brackets; at most so many pieces. */
export function usageTokens(text: string, max = 80): readonly string[] {
  const tokens: string[] = [];
  const open: string[] = [];
  let token = '';
  for (const char of text) {
    if (char === ' ' && open.length === 0) {
      if (token !== '') tokens.push(token);
      token = '';
      if (tokens.length >= max) return tokens;
      continue;
    }
    const closing = CLOSING[char];
    if (closing !== undefined) open.push(closing);
    else if (char === open.at(-1)) open.pop();
    token += char;
  }
  if (token !== '') tokens.push(token);
  return tokens;
}
