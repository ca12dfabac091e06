import type { AdminHeldItem } from '../../../../src/admin/contract/contract.ts';
import { escapeInvisible } from '../../lib/escape-invisible.ts';

interface ReasonStyle {
  readonly label: string;
  readonly kind: 'plain' | 'accent' | 'warn' | 'bad';
}

export const reasonStyles: Readonly<Record<AdminHeldItem['reason'], ReasonStyle>> = {
  new: { label: 'new', kind: 'accent' },
  changed: { label: 'changed', kind: 'warn' },
  suspicious: { label: 'suspicious', kind: 'bad' },
  refused: { label: 'refused', kind: 'plain' },
};

export const kindLabels: Readonly<Record<AdminHeldItem['kind'], string>> = {
  server: 'server',
  words: 'instructions',
  tool: 'tool',
  prompt: 'prompt',
};

/** The meaning of each rule of the scanner. */
const ruleLabels: Readonly<Record<string, string>> = {
  'hidden-characters': 'Invisible characters',
  'hidden-markup': 'Markup that hides text',
  instruction: 'Instructions to the model',
  secrecy: 'Asks to hide something from the user',
  secrets: 'Asks for secrets',
  'other-tools': 'Refers to other tools',
  exfiltration: 'Sends data elsewhere',
  encoded: 'Encoded text',
  command: 'A command to run',
  'look-alike': 'Look-alike letters',
  'too-long': 'Unusually long text',
};

export function describeRule(rule: string): string {
  return ruleLabels[rule] ?? escapeInvisible(rule);
}

export function itemTitle({ kind, name, server }: AdminHeldItem): string {
  if (kind === 'server') return server;
  return kind === 'words' ? 'Instructions' : escapeInvisible(name);
}

/** Explains why an item is held, and the consequences. */
export function explainReason({ kind, reason, server }: AdminHeldItem): string {
  if (kind === 'server') return 'The server does not start until you approve how it is run.';
  if (reason === 'refused')
    return `You refused it. It stays hidden until ${server} offers a different version or you approve it.`;
  const [subject, verb, object] =
    kind === 'words' ? ['The instructions of the server', 'have', 'them'] : [`This ${kind}`, 'has', 'it'];
  switch (reason) {
    case 'new':
      return `${subject} ${kind === 'words' ? 'are' : 'is'} new. Clients cannot see ${object} until you approve ${object}.`;
    case 'changed':
      return `${subject} ${verb} changed since the approval. Clients cannot see ${object} until you approve the change.`;
    case 'suspicious':
      return `${subject} may be meant to mislead a model. Clients cannot see ${object} until you approve ${object}.`;
  }
}
