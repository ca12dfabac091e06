import { describe, expect, test } from 'vitest';

import { generateCatalog } from './catalog.mjs';
import { readRequests } from './requests.mjs';

const catalog = generateCatalog();
const { people, agents } = readRequests(catalog);

describe('requests to the generated catalog', () => {
  test('requests: are each asked once and have a tool that answers them', () => {
    const ids = new Set(catalog.flatMap(({ name, tools }) => tools.map((tool) => `${name}/${tool.name}`)));
    for (const requests of [people, agents]) {
      expect(requests.length).toBeGreaterThan(150);
      expect(new Set(requests.map(({ query }) => query)).size).toBe(requests.length);
      for (const { relevant } of requests) expect(ids.has(relevant[0])).toBe(true);
    }
  });

  test('requests: are not copied from descriptions', () => {
    const descriptions = catalog.flatMap(({ tools }) =>
      tools.map(({ description = '' }) => description.toLowerCase()),
    );
    const copied = people.filter(({ query }) =>
      descriptions.some((text) => text.includes(query.toLowerCase())),
    );
    expect(copied).toEqual([]);
  });
});
