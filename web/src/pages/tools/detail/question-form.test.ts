import { h } from 'preact';
import { expect, test } from 'vitest';

import { renderWithoutBrowser } from '../../../../fake/fake-document.ts';
import { StoreContext } from '../../../store/use-store.ts';
import { QuestionForm } from './question-form.tsx';

test('question of a server: names the server, warns before its text, and shows invisible characters', () => {
  const params = {
    message: `${'Enter your password.\n'.repeat(10_000)}\u202Eback`,
    requestedSchema: { type: 'object', properties: { token: { $ref: '#/%' } } },
  };
  const question = { id: 'q', method: 'elicitation/create', params };
  const form = h(QuestionForm, { server: 'asks', question: question as never, onAnswered: () => {} });
  using rendered = renderWithoutBrowser(h(StoreContext.Provider, { value: {} as never }, form));
  const { page } = rendered;
  expect(page.find('h2')?.textContent).toBe('asks asks a question');
  const nodes = page.all();
  const warning = page.find('p', /Never enter a password\./);
  const text = page.find('p', /Enter your password\./);
  expect(warning).toBeDefined();
  expect(nodes.indexOf(warning!)).toBeLessThan(nodes.indexOf(text!));
  // A class limits the height of the text, which scrolls.
  expect(text?.attributes.get('class')).toBe('question-text');
  expect(text?.textContent).toMatch(/\\u\{202e\}back$/);
  expect(page.find('button', /^Decline$/)).toBeDefined();
});
