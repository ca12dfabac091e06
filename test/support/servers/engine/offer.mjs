import { image } from './content.mjs';
import { plainTools } from './tools.mjs';

/** What a well-behaved server offers: tools, prompts, resources and templates. */
export function plainOffer() {
  return {
    title: 'A fixture',
    instructions: 'A server for tests of the gateway.',
    tools: plainTools(),
    prompts: [greet, bare],
    resources: [textResource, blobResource],
    templates: [itemTemplate],
  };
}

const names = ['Ada', 'Adele', 'Alan', 'Barbara', 'Grace'];

const greet = {
  name: 'greet',
  title: 'Greet somebody',
  description: 'A greeting.',
  arguments: [{ name: 'name', description: 'Whom to greet.', required: true, 'x-unknown': true }],
  icons: [{ src: 'data:image/svg+xml;base64,PHN2Zy8+' }],
  _meta: { 'example.com/kind': 'greeting' },
  complete: ({ value }, context) =>
    context?.arguments?.language === 'none' ? [] : names.filter((name) => name.startsWith(value)),
  get: ({ name }) => ({
    description: 'A greeting.',
    messages: [
      { role: 'user', content: { type: 'text', text: `Hello ${name}!` } },
      { role: 'assistant', content: { type: 'image', data: image, mimeType: 'image/gif' } },
    ],
    _meta: { 'example.com/kind': 'greeting' },
  }),
};

const bare = {
  name: 'bare',
  get: () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'Nothing to fill in.' } }] }),
};

const textResource = {
  uri: 'fixture://text',
  name: 'text',
  title: 'A text',
  description: 'A text that never changes.',
  mimeType: 'text/plain',
  size: 14,
  annotations: { audience: ['user'], priority: 0.5, lastModified: '2026-01-01T00:00:00Z' },
  _meta: { 'example.com/kind': 'text' },
  'x-unknown': 1,
  read: () => ({
    contents: [{ uri: 'fixture://text', mimeType: 'text/plain', text: 'a static text\n', _meta: { a: 1 } }],
  }),
};

const blobResource = {
  uri: 'fixture://blob',
  name: 'blob',
  mimeType: 'image/gif',
  read: () => ({ contents: [{ uri: 'fixture://blob', mimeType: 'image/gif', blob: image }] }),
};

const itemTemplate = {
  uriTemplate: 'fixture://item/{id}',
  name: 'item',
  title: 'One item',
  description: 'An item by its id.',
  mimeType: 'application/json',
  _meta: { 'example.com/kind': 'item' },
  complete: ({ value }) => ['1', '10', '11', '2'].filter((id) => id.startsWith(value)),
  read(uri) {
    const id = /^fixture:\/\/item\/([^/]+)$/.exec(uri)?.[1];
    if (id === undefined) return undefined;
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify({ id }) }] };
  },
};
