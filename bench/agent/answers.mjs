// Plausible results of tools that exist only as definitions: records as pretty-printed JSON, as most servers return them, logs, tables, or a
// confirmation, by the verb and the noun in the name of the tool. The same tool always returns the same result.

const WORDS =
  'login page crashes when a user with two accounts changes the address of an order that was paid by invoice'.split(
    ' ',
  );

export function answerOf(tool) {
  const name = tool.toLowerCase();
  if (/logs?(?:_|-|$)|transcript|failure|log_entries|history_of/.test(name)) return logOf(name);
  if (
    /^(?:[a-z]+[_-])?(?:create|add|post|send|write|insert|reply|update|move|merge|delete|remove|drop|uninstall|scale|patch|click|put)/.test(
      name,
    ) ||
    /_(?:create|delete|scale)/.test(name)
  )
    return JSON.stringify({ ok: true, id: 4711, url: `https://example.com/${name}/4711` }, undefined, 2);
  if (/blame|read_text|read_file|page_markdown|extract|fetch/.test(name)) return prose(name, 120);
  if (/translate|forecast|elevation|directions|chart|geocode|connection_string/.test(name))
    return prose(name, 6);
  if (/sql|query|rows|csv/.test(name)) return JSON.stringify(rows(80), undefined, 2);
  if (/^git_|branch/.test(name)) return prose(name, 8);
  if (
    /list|search|find|pods|get_(?:my|all|boards|lists|cards|users|issues|tasks)|boards|tasks|users|graph|sizes|issues|emails|records|history|commits/.test(
      name,
    )
  )
    return JSON.stringify(records(name, 40), undefined, 2);
  return JSON.stringify(records(name, 1)[0], undefined, 2);
}

function sentence(seed, length) {
  return Array.from({ length }, (_, at) => WORDS[(seed * 7 + at * 3) % WORDS.length]).join(' ');
}

function records(name, count) {
  return Array.from({ length: count }, (_, id) => ({
    id,
    title: sentence(id, 6),
    state: id % 3 === 0 ? 'closed' : 'open',
    count: (id * 37) % 101,
    url: `https://api.example.com/v3/${name}/items/${id}`,
    created_at: `2026-03-${String(1 + (id % 28)).padStart(2, '0')}T08:15:30Z`,
    author: {
      login: `user${id % 5}`,
      id: 1000 + (id % 5),
      type: 'User',
      url: `https://api.example.com/users/user${id % 5}`,
    },
    labels: [{ name: id % 2 === 0 ? 'bug' : 'feature', color: 'd73a4a' }],
    body: `${sentence(id + 3, 40)}.`,
    milestone: null,
  }));
}

function rows(count) {
  return Array.from({ length: count }, (_, id) => ({
    id,
    customer: `Customer ${id}`,
    total: id * 17,
    currency: 'EUR',
    paid: id % 2 === 0,
  }));
}

function logOf(name) {
  return Array.from({ length: 1500 }, (_, at) =>
    at === 1311
      ? '2026-03-04T10:21:51Z ERROR cannot write to /var/data: disk full'
      : `2026-03-04T10:${String(Math.floor(at / 60)).padStart(2, '0')}:${String(at % 60).padStart(2, '0')}Z INFO ${name} ${sentence(at, 8)}`,
  ).join('\n');
}

function prose(name, lines) {
  return Array.from({ length: lines }, (_, at) => `line ${at + 1} of ${name}: ${sentence(at, 10)}.`).join(
    '\n',
  );
}
