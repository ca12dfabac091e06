import { schemaIn } from '../../../lib/schema-field.ts';
import { visible } from '../../../lib/visible.ts';
import { JsonTree } from '../../../parts/data/json-tree.tsx';
import { LongText } from './long-text.tsx';
import { mediaSource } from './media-source.ts';

/** What is seen at a glance is shown whole. */
const SHORT = 3000;

/** One block of a result. It comes from a server: text is text, and nothing but known kinds of media is shown as such. */
export function ContentBlock({ block }: { readonly block: unknown }) {
  const content = schemaIn(block) ?? {};
  switch (content['type']) {
    case 'text':
      return <TextBlock text={textIn(content, 'text')} />;
    case 'image':
    case 'audio':
      return <Media data={textIn(content, 'data')} mimeType={textIn(content, 'mimeType')} />;
    case 'resource':
      return <Embedded resource={schemaIn(content['resource']) ?? {}} />;
    case 'resource_link':
      return (
        <p>
          <b>{shownIn(content, 'title') || shownIn(content, 'name') || 'Resource'}</b>{' '}
          <code>{shownIn(content, 'uri')}</code>
          <br />
          <span class="soft small">{shownIn(content, 'description')}</span>
        </p>
      );
    default:
      return <JsonTree value={block} open={2} />;
  }
}

function TextBlock({ text }: { text: string }) {
  const value = jsonIn(text);
  return value === undefined ? (
    <LongText text={text} />
  ) : (
    <JsonTree value={value} open={text.length < SHORT ? 9 : 2} />
  );
}

function Media({ data, mimeType }: { data: string; mimeType: string }) {
  const source = mediaSource(data, mimeType);
  if (source === undefined) {
    return (
      <p class="soft">
        Something of the kind <code>{visible(mimeType) || 'unknown'}</code>, which is not shown.
      </p>
    );
  }
  if (source.kind === 'image') return <img class="media" src={source.url} alt={`Result, ${mimeType}`} />;
  // oxlint-disable-next-line jsx-a11y/media-has-caption -- servers give none
  return <audio controls src={source.url} aria-label={`Result, ${mimeType}`} />;
}

function Embedded({ resource }: { resource: Readonly<Record<string, unknown>> }) {
  const { blob, text } = resource;
  return (
    <>
      <p class="small soft">
        <code>{shownIn(resource, 'uri')}</code> {shownIn(resource, 'mimeType')}
      </p>
      {typeof text === 'string' && <TextBlock text={text} />}
      {typeof blob === 'string' && <Media data={blob} mimeType={textIn(resource, 'mimeType')} />}
    </>
  );
}

/** Objects and lists only: a lone number or word is better read as text. */
function jsonIn(text: string): unknown {
  if (!/^\s*[[{]/.test(text) || text.length > 1_000_000) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // Text that begins like JSON.
  }
}

function shownIn(from: Readonly<Record<string, unknown>>, key: string): string {
  return visible(textIn(from, key));
}

function textIn(from: Readonly<Record<string, unknown>>, key: string): string {
  const value = from[key];
  return typeof value === 'string' ? value : '';
}
