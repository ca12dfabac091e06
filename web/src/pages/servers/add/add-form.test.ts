import { h } from 'preact';
import { expect, test } from 'vitest';

import { renderWithoutBrowser } from '../../../../fake/fake-document.ts';
import { StoreContext } from '../../../store/use-store.ts';
import { AddForm } from './add-form.tsx';

/** Renders the form for an entry that somebody else wrote. */
function renderForm(entry: Readonly<Record<string, unknown>>, remarks: readonly string[] = []) {
  const form = h(AddForm, { draft: { name: 'weather', entry, remarks } });
  return renderWithoutBrowser(h(StoreContext.Provider, { value: {} as never }, form));
}

test('entry of a registry: is shown whole as text before it can be added', async () => {
  const args = [...Array.from({ length: 64 }, (_, at) => `${at} ${'a'.repeat(1000)}`), '--evil'];
  using form = renderForm({ command: 'npx', args });
  const { page } = form;
  const add = page.find('button', /^Add the server$/);
  expect(page.find('pre')?.textContent).toMatch(/^command: npx\nargs:\n/);
  expect(page.find('pre')?.textContent).not.toContain('--evil');
  expect(page.textContent).toContain('Show the whole entry before you add the server.');
  expect(add?.attributes.has('disabled')).toBe(true);
  page.find('button', /^Show .* more characters/)?.click();
  await expect.poll(() => page.find('pre')?.textContent).toContain('--evil');
  expect(add?.attributes.has('disabled')).toBe(false);
});

test('entry of a registry: a short one can be added at once, and shows characters that reverse text', () => {
  using form = renderForm({ command: 'npx', args: ['--safe', '\u202Elive--'] }, ['A remark.']);
  const { page } = form;
  expect(page.find('pre')?.textContent).toContain(String.raw`\u{202e}live--`);
  expect(page.find('button', /^Add the server$/)?.attributes.has('disabled')).toBe(false);
});
