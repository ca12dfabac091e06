import type { AdminHeld } from '../../../../src/admin/contract/contract.ts';
import { visible } from '../../lib/visible.ts';

type Reason = AdminHeld['reason'];

interface ReasonLook {
  readonly word: string;
  readonly kind: 'plain' | 'accent' | 'warn' | 'bad';
}

export const reasons: Readonly<Record<Reason, ReasonLook>> = {
  new: { word: 'new', kind: 'accent' },
  changed: { word: 'changed', kind: 'warn' },
  suspicious: { word: 'suspicious', kind: 'bad' },
  refused: { word: 'refused', kind: 'plain' },
};

export const kinds: Readonly<Record<AdminHeld['kind'], string>> = {
  server: 'server',
  words: 'instructions',
  tool: 'tool',
  prompt: 'prompt',
};

/** What the scanner means by its rules. */
const rules: Readonly<Record<string, string>> = {
  'hidden-characters': 'Characters that do not show',
  'hidden-markup': 'Markup that hides text',
  instruction: 'Tells the model what to do',
  secrecy: 'Wants something kept from the person',
  secrets: 'Is after secrets',
  'other-tools': 'Speaks of other tools',
  exfiltration: 'Sends data elsewhere',
  encoded: 'Encoded text',
  command: 'A command to be run',
  'look-alike': 'Letters that look like others',
  'too-long': 'Longer than anything that is read',
};

export function ruleWords(rule: string): string {
  return rules[rule] ?? visible(rule);
}

export function titleOf({ kind, name, server }: AdminHeld): string {
  if (kind === 'server') return server;
  return kind === 'words' ? 'What it says of itself' : visible(name);
}

/** Why it waits, and what happens meanwhile. */
export function whyOf({ kind, reason, server }: AdminHeld): string {
  if (kind === 'server') return 'Nothing of this server runs before you approve how it is run.';
  const what = kind === 'words' ? 'What the server says of itself' : `This ${kinds[kind]}`;
  switch (reason) {
    case 'new':
      return `${what} is new. Clients do not see it before you approve it.`;
    case 'changed':
      return `${what} is not what was approved any more. Clients do not see it until you approve the change.`;
    case 'suspicious':
      return `${what} reads as if it wanted to mislead a model. Clients do not see it.`;
    case 'refused':
      return `You refused it. It stays hidden until ${server} offers something else, or you approve it after all.`;
  }
}
