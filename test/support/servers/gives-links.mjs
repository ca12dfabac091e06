#!/usr/bin/env node
// Returns URIs that no list contains: links and embedded resources in results, and pages of MCP Apps in the `_meta` of tools.
// `--mark` is part of its answers, to distinguish two of these servers, whose URIs are the same.
import { serve } from './engine/engine.mjs';
import { object, string, text } from './engine/schema.mjs';

const page = 'ui://widget/page.html';
/** Every byte value, so that any change in transit is visible. */
const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString('base64');

const tool = (name, call, more = {}) => ({
  name,
  description: `Gives ${name}.`,
  inputSchema: object({ id: string }, ['id']),
  annotations: { readOnlyHint: true },
  ...more,
  call,
});

const hidden = (uri, content) => ({
  uri,
  name: uri,
  isHidden: true,
  read: () => ({ contents: [{ uri, ...content }] }),
});

await serve((options) => {
  const mark = options.text('mark', 'one');
  return {
    name: 'gives-links',
    ...(options.has('apps') && {
      capabilities: {
        extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
      },
    }),
    tools: [
      tool('a-link', ({ id = 'a' }) => ({
        content: [
          { type: 'text', text: `see made:///${id}` },
          { type: 'resource_link', uri: `made:///${id}`, name: id, mimeType: 'text/plain', 'x-unknown': 1 },
        ],
      })),
      tool('a-resource', () => ({
        content: [
          {
            type: 'resource',
            resource: { uri: 'made:///bytes', mimeType: 'application/octet-stream', blob: bytes },
          },
        ],
      })),
      tool('a-page', () => text(`page of ${mark}`), {
        _meta: {
          ui: { resourceUri: page, visibility: ['model'] },
          'ui/resourceUri': page,
          'example.com/kept': 1,
        },
      }),
    ],
    prompts: [
      {
        name: 'a-prompt',
        get: () => ({
          messages: [
            {
              role: 'user',
              content: { type: 'resource', resource: { uri: 'made:///prompted', text: 'prompted' } },
            },
          ],
        }),
      },
    ],
    resources: [
      hidden(page, { mimeType: 'text/html;profile=mcp-app', text: `<p>${mark}</p>` }),
      hidden('made:///a', { text: `a of ${mark}` }),
      hidden('made:///prompted', { text: `prompted of ${mark}` }),
      hidden('made:///bytes', { mimeType: 'application/octet-stream', blob: bytes }),
      {
        uri: `own:///${mark}`,
        name: 'own',
        read: () => ({ contents: [{ uri: `own:///${mark}`, text: mark }] }),
      },
    ],
    templates: [
      {
        uriTemplate: `items-${mark}:///{id}`,
        name: 'items',
        read: (uri) =>
          uri.startsWith(`items-${mark}:///`)
            ? { contents: [{ uri, text: `${uri} of ${mark}` }] }
            : undefined,
      },
    ],
    page: (member, all) => ({ [member]: all.filter(({ isHidden }) => isHidden !== true) }),
  };
});
