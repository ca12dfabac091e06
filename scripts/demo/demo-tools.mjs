// The made-up tools of the servers in the screenshots.

const text = (description) => ({ type: 'string', description });
const limit = { type: 'integer', minimum: 1, maximum: 100, description: 'The maximum number of results.' };

/** What each server manages, as [singular, plural], and the sentence that its descriptions end with. */
const subjects = {
  github: [
    ['issue', 'issues'],
    ['pull_request', 'pull_requests'],
    ['branch', 'branches'],
    ['release', 'releases'],
    ['workflow_run', 'workflow_runs'],
    ['repository', 'repositories'],
    ['commit', 'commits'],
  ],
  linear: [
    ['issue', 'issues'],
    ['project', 'projects'],
    ['cycle', 'cycles'],
    ['comment', 'comments'],
  ],
  postgres: [
    ['table', 'tables'],
    ['query', 'queries'],
    ['index', 'indexes'],
  ],
  slack: [
    ['message', 'messages'],
    ['channel', 'channels'],
    ['user', 'users'],
  ],
  sentry: [
    ['event', 'events'],
    ['issue', 'issues'],
    ['project', 'projects'],
  ],
  notion: [
    ['page', 'pages'],
    ['database', 'databases'],
    ['block', 'blocks'],
    ['comment', 'comments'],
  ],
  stripe: [
    ['customer', 'customers'],
    ['invoice', 'invoices'],
    ['payment', 'payments'],
    ['refund', 'refunds'],
    ['subscription', 'subscriptions'],
  ],
  figma: [
    ['file', 'files'],
    ['component', 'components'],
    ['comment', 'comments'],
  ],
  browser: [
    ['tab', 'tabs'],
    ['screenshot', 'screenshots'],
    ['form', 'forms'],
  ],
  kubernetes: [
    ['pod', 'pods'],
    ['deployment', 'deployments'],
    ['service', 'services'],
    ['job', 'jobs'],
  ],
};

/** The actions on each subject: the effect, and the arguments besides those of every call. */
const actions = [
  [
    'search',
    'read',
    (one, many) => `Searches ${many} by text, state, author and date, and returns the best matches first.`,
  ],
  ['get', 'read', (one) => `Returns one ${one} with all its fields, links and history.`],
  ['list', 'read', (one, many) => `Lists ${many}, the newest first, one page at a time.`],
  ['create', 'write', (one) => `Creates a ${one} and returns it with its id and address.`],
  [
    'update',
    'write',
    (one) => `Changes the given fields of a ${one}; fields that are left out keep their value.`,
  ],
  ['delete', 'destructive', (one) => `Deletes a ${one} permanently. This cannot be undone.`],
];

export function demoTools(server) {
  return (subjects[server] ?? [['note', 'notes']]).flatMap((subject) =>
    actions.map((action) => tool(subject, action)),
  );
}

function tool([one, many], [verb, effect, describe]) {
  const isList = verb === 'search' || verb === 'list';
  const words = (name) => name.replaceAll('_', ' ');
  return {
    name: `${verb}_${isList ? many : one}`,
    description: `${describe(words(one), words(many))} Requires access to the workspace in which the ${words(one)} lives.`,
    annotations: { readOnlyHint: effect === 'read', destructiveHint: effect === 'destructive' },
    inputSchema: {
      type: 'object',
      properties: {
        ...(verb === 'search' && {
          query: text(`Words that the ${words(many)} contain, or a filter such as "state:open".`),
        }),
        ...(isList
          ? { state: { type: 'string', enum: ['open', 'closed', 'all'] }, limit }
          : { id: text(`The id of the ${words(one)}.`) }),
        ...((verb === 'create' || verb === 'update') && {
          title: text('A short title.'),
          body: text('The content as Markdown.'),
        }),
      },
      required: verb === 'search' ? ['query'] : isList ? [] : [verb === 'create' ? 'title' : 'id'],
    },
  };
}
