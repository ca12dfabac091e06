import { isInstallLink } from '../setup/import/install-link.ts';

/** The kind of source that a word after `trunkline add` contains, if the word is neither a name nor a program. */
export type AddSource = 'url' | 'link' | 'snippet' | 'bundle' | 'file' | 'standard-input';

/** Recognises the words that describe a server completely. Returns undefined for any other word. */
export function classifyAddSource(word: string): AddSource | undefined {
  if (word === '-') return 'standard-input';
  if (isInstallLink(word)) return 'link';
  if (/^https?:\/\//i.test(word)) return 'url';
  // JSON with or without its outer braces, a Markdown fence, TOML of Codex, or YAML of Continue.
  if (/^\s*(?:\{|\[|```|"[^"]*"\s*:|mcpServers:)/.test(word)) return 'snippet';
  if (/\.(?:mcpb|dxt)$/i.test(word)) return 'bundle';
  return /\.jsonc?$/i.test(word) ? 'file' : undefined;
}
