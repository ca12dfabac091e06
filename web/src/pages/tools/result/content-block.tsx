import { JsonTree } from '../../../components/data/json-tree.tsx';
import { escapeInvisible } from '../../../lib/escape-invisible.ts';
import { asObject } from '../../../lib/schema-field.ts';
import { LongText } from './long-text.tsx';
import { mediaSource } from './media-source.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** JSON up to this length is shown with all levels open. */
const MAX_OPEN_JSON_CHARS = 3000;
/** Longer JSON is shown as text, because parsing and rendering it would be slow. */
const MAX_JSON_CHARS = 1_000_000;

/** Shows one block of a result. Servers are not trusted: text is never rendered as HTML, and only known media types are shown as media. */
export function ContentBlock({ block }: { readonly block: unknown }) {
  const content = asObject(block) ?? {};
  switch (content['type']) {
    case 'text':
      return <TextBlock text={textOf(content, 'text')} />;
    case 'image':
    case 'audio':
      return <Media data={textOf(content, 'data')} mimeType={textOf(content, 'mimeType')} />;
    case 'resource':
      return <EmbeddedResource resource={asObject(content['resource']) ?? {}} />;
    case 'resource_link':
      return (
        <p>
          <b>{safeText(content, 'title') || safeText(content, 'name') || 'Resource'}</b>{' '}
          <code>{safeText(content, 'uri')}</code>
          <br />
          <span class="soft small">{safeText(content, 'description')}</span>
        </p>
      );
    default:
      return <JsonTree value={block} openLevels={2} />;
  }
}

function TextBlock({ text }: { text: string }) {
  const value = parseJson(text);
  return value === undefined ? (
    <LongText text={text} />
  ) : (
    <JsonTree value={value} openLevels={text.length < MAX_OPEN_JSON_CHARS ? 9 : 2} />
  );
}

/** Parses JSON objects and arrays. Returns undefined for everything else, because a single number or word is more readable as text. */
function parseJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text) || text.length > MAX_JSON_CHARS) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // The text only begins like JSON.
  }
}

function Media({ data, mimeType }: { data: string; mimeType: string }) {
  const source = mediaSource(data, mimeType);
  if (source === undefined) {
    return (
      <p class="soft">
        Content of type <code>{escapeInvisible(mimeType) || 'unknown'}</code> is not shown.
      </p>
    );
  }
  if (source.kind === 'image') return <img class="media" src={source.url} alt={`Result, ${mimeType}`} />;
  // oxlint-disable-next-line jsx-a11y/media-has-caption -- servers provide no captions
  return <audio controls src={source.url} aria-label={`Result, ${mimeType}`} />;
}

function EmbeddedResource({ resource }: { resource: JsonObject }) {
  const { blob, text } = resource;
  return (
    <>
      <p class="small soft">
        <code>{safeText(resource, 'uri')}</code> {safeText(resource, 'mimeType')}
      </p>
      {typeof text === 'string' && <TextBlock text={text} />}
      {typeof blob === 'string' && <Media data={blob} mimeType={textOf(resource, 'mimeType')} />}
    </>
  );
}

function safeText(object: JsonObject, key: string): string {
  return escapeInvisible(textOf(object, key));
}

function textOf(object: JsonObject, key: string): string {
  const value = object[key];
  return typeof value === 'string' ? value : '';
}
