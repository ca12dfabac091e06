import { describe, expect, test } from 'vitest';

import { cpuStopwatch } from '../../test/support/cpu-time.ts';
import { completeAtOnce } from '../core/lib/complete-in-slices.ts';
import { SECRET_FORMATS, createSecretSearch } from './secret-formats.ts';

const body = 'aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z';
/** 43 characters, as 32 random bytes have in base64url. */
const random = 'xY3-z_'.repeat(8).slice(0, 43);
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  'aws-key': ['AKIAIOSFODNN7EXAMPLE'],
  'github-token': [`ghp_${body}`, `github_pat_${body}`],
  'gitlab-token': [`glpat-${body}`],
  'slack-token': [`xoxb-1234567890-${body}`, `xapp-1-${body}`],
  'anthropic-key': [`sk-ant-api03-${body}`],
  'openai-key': [`sk-proj-${body}`, `sk-${body}`],
  'stripe-key': [`sk_live_${body}`, `rk_test_${body}`, `whsec_${body}`],
  'google-key': [`AIza${body}`, `ya29.${body}`],
  'service-token': [`npm_${body}`, `hf_${body}`, `SG.${body}.${body}`],
  'trunkline-key': [
    `tl_aB3dE5fG7h-_${random}`,
    `tla_aB3dE5fG7h-_${random}`,
    `tlr_aB3dE5fG7h-_${random}`,
    `tladmin_${random}`,
    `tladmin_abcd2345_${random}`,
    `__Host-trunkline=${random}`,
    `trunkline_7333=${random}`,
  ],
  jwt: [`eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.${body}`],
  'private-key': [`-----BEGIN OPENSSH PRIVATE KEY-----\n${body}\n-----END OPENSSH PRIVATE KEY-----`],
};

describe('secret formats', () => {
  test('secret formats: have a test example each', () => {
    expect(Object.keys(EXAMPLES)).toEqual(SECRET_FORMATS.map(({ id }) => id));
  });

  test('secret formats: are searched in a long text in many steps, with the same result', () => {
    const search = createSecretSearch({ entropy: true });
    // Random words at every offset, so that parts of the text cannot split one.
    const text = `AKIAIOSFODNN7EXAMPLE ${Array.from({ length: 20_000 }, (_, at) => `${body.slice(at % 9)} `).join('')}`;
    const steps = search.maskSteps(text, '*');
    for (let at = 0; at < 15; at += 1) expect(steps.next().done).toBe(false);
    const masked = completeAtOnce(steps);
    expect(masked).toBe(`* ${'* '.repeat(20_000)}`);
    expect(search.mask(text, '*')).toBe(masked);
    expect(search.find(text)).toEqual(['aws-key', 'high-entropy']);
  });

  test.each(Object.entries(EXAMPLES))('secret formats: finds and masks %s completely', (id, examples) => {
    const search = createSecretSearch();
    for (const example of examples) {
      expect(search.find(`before ${example} after`)).toContain(id);
      expect(search.mask(`before ${example} after`, '*')).toBe('before * after');
    }
  });

  test('secret formats: leaves ordinary words, ids and hashes unchanged', () => {
    const search = createSecretSearch({ entropy: true });
    const text =
      'task_ok sk-1 tl_calendar_events_of_the_newsletter html_a trunkline_home=x the risk_level desk-chair e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 0b7c5a3e-1f2d-4c6b-9a8e-7d6c5b4a3f2e eyJ npm_run';
    expect(search.find(text)).toEqual([]);
    expect(search.mask(text, '*')).toBe(text);
  });

  test('secret formats: reports high-entropy words only when enabled', () => {
    expect(createSecretSearch().find(`x ${body}`)).toEqual([]);
    expect(createSecretSearch({ entropy: true }).find(`x ${body}`)).toEqual(['high-entropy']);
  });

  test('secret formats: supports custom patterns', () => {
    const search = createSecretSearch({ patterns: [{ id: 'badge', pattern: /badge-\d{4}/giu }] });
    expect(search.find('my BADGE-1234')).toEqual(['badge']);
    expect(search.mask('my badge-1234.', '*')).toBe('my *.');
  });

  test.each(['eyJ-', 'sk_', '-----BEGIN ', 'ghp_a ', 'AKIA', 'SG.', 'tl_', 'tladmin_', 'trunkline_1='])(
    'secret formats: scans a long repetition of %j quickly',
    (piece) => {
      const text = piece.repeat(100_000 / piece.length);
      const cpuMs = cpuStopwatch();
      createSecretSearch({ entropy: true }).mask(text, '*');
      expect(cpuMs()).toBeLessThan(3_000);
    },
  );
});
