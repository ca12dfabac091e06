import { describe, expect, test } from 'vitest';

import { SECRET_FORMATS, secretSearch } from './secret-formats.ts';

const body = 'aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z';
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
  jwt: [`eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.${body}`],
  'private-key': [`-----BEGIN OPENSSH PRIVATE KEY-----\n${body}\n-----END OPENSSH PRIVATE KEY-----`],
};

describe('formats of secrets', () => {
  test('have an example each', () => {
    expect(Object.keys(EXAMPLES)).toEqual(SECRET_FORMATS.map(({ id }) => id));
  });

  test.each(Object.entries(EXAMPLES))('%s is found and masked whole', (id, examples) => {
    const search = secretSearch();
    for (const example of examples) {
      expect(search.find(`before ${example} after`)).toContain(id);
      expect(search.mask(`before ${example} after`, '*')).toBe('before * after');
    }
  });

  test('leaves ordinary words, ids and hashes alone', () => {
    const search = secretSearch({ entropy: true });
    const text =
      'task_ok sk-1 the risk_level desk-chair e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 0b7c5a3e-1f2d-4c6b-9a8e-7d6c5b4a3f2e eyJ npm_run';
    expect(search.find(text)).toEqual([]);
    expect(search.mask(text, '*')).toBe(text);
  });

  test('takes random words for secrets only where that is wanted', () => {
    expect(secretSearch().find(`x ${body}`)).toEqual([]);
    expect(secretSearch({ entropy: true }).find(`x ${body}`)).toEqual(['high-entropy']);
  });

  test('knows patterns of a person', () => {
    const search = secretSearch({ patterns: [{ id: 'badge', pattern: /badge-\d{4}/giu }] });
    expect(search.find('my BADGE-1234')).toEqual(['badge']);
    expect(search.mask('my badge-1234.', '*')).toBe('my *.');
  });

  test.each(['eyJ-', 'sk_', '-----BEGIN ', 'ghp_a ', 'AKIA', 'SG.'])(
    'looks through much of %j soon',
    (piece) => {
      const text = piece.repeat(100_000 / piece.length);
      const before = process.cpuUsage().user;
      secretSearch({ entropy: true }).mask(text, '*');
      expect(process.cpuUsage().user - before).toBeLessThan(3_000_000);
    },
  );
});
