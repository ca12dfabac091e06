import { camelCase, capitalized, wordsIn } from './names.mjs';

const DRAFT = 'http://json-schema.org/draft-07/schema#';
const LATEST = 'https://json-schema.org/draft/2020-12/schema';
/** How many levels of a shape that contains itself are written out. */
const DEPTH = { bare: 0, plain: 1, strict: 2, python: 1, openapi: 3 };
const HUGE_DEPTH = 5;
const PAGES = {
  cursor: [
    ['cursor', { type: 'string' }, 'Pagination cursor from the previous response'],
    [
      'limit',
      { type: 'integer', minimum: 1, maximum: 100, default: 20 },
      'Maximum number of results per page',
    ],
  ],
  number: [
    ['page', { type: 'integer', minimum: 1, default: 1 }, 'Page number (1-based)'],
    ['per_page', { type: 'integer', maximum: 100, default: 30 }, 'Number of results per page'],
  ],
  offset: [
    ['offset', { type: 'integer', default: 0 }, 'Number of results to skip'],
    ['limit', { type: 'integer', default: 50 }, 'Maximum number of results to return'],
  ],
  none: [],
};

/** What a server decides once for all of its tools. */
export function fieldStyle({ naming, schema, extras }, random, { commonFields }) {
  const isCamel = ['camel', 'mixed', 'pascal'].includes(naming) || (naming === 'kebab' && random.chance(0.6));
  return {
    isCamel,
    idName: random.pick(['thing', 'thing', 'id', 'uuid']),
    pages: random.pick(['cursor', 'number', 'offset', 'none']),
    draft: random.chance(0.7) ? DRAFT : LATEST,
    hintKeys: random.pick(['all', 'all', 'some', 'few']),
    /** Parameters that many tools of the server have: few, or nearly all that there are. */
    common: random.sample(commonFields, extras.has('wide') ? 24 : Math.floor(random.next() * 5)),
    isWide: extras.has('wide'),
    isHuge: extras.has('huge'),
    describedShare: schema === 'bare' ? 0 : random.pick([0.9, 1, 1]),
    // Servers with long descriptions also repeat the choices in them.
    repeatsChoices: extras.has('remarks') || random.chance(0.3),
  };
}

/** The JSON Schema of a tool's arguments in the style of its server. */
export function inputSchema(tool, context) {
  const parameters = parametersOf(tool, context);
  const writer = new SchemaWriter(context);
  const schema = writer.object(parameters);
  const { server, style } = context;
  if (server.schema === 'strict') return { $schema: style.draft, ...schema, additionalProperties: false };
  if (server.schema === 'python') {
    const titled = { ...schema, title: `${tool.name}Arguments` };
    return writer.definitions.size === 0
      ? titled
      : { $defs: Object.fromEntries(writer.definitions), ...titled };
  }
  return schema;
}

/** The JSON Schema of a tool's structured result. */
export function outputSchema({ thing, action }, context) {
  const writer = new SchemaWriter({ ...context, isOutput: true });
  const whole = thingSchema(thing, writer, context);
  switch (action.answer) {
    case 'list':
      return {
        type: 'object',
        properties: {
          items: { type: 'array', items: whole },
          [writer.nameOf('next_cursor')]: { type: 'string' },
        },
        required: ['items'],
      };
    case 'one':
      return whole;
    case 'done':
      return { type: 'object', properties: { success: { type: 'boolean' } } };
    default:
      return { type: 'object', properties: { result: { type: 'string' } }, required: ['result'] };
  }
}

/** A few public tools have results of thousands of tokens, in which the same objects are written out again and again: `huge` servers do that. */
function thingSchema(thing, writer, { style, vocabulary }, depth = 0) {
  const properties = { id: { type: 'string' } };
  for (const field of thing.fields) {
    const [name, schema] = writer.member(vocabulary.fields.get(field));
    properties[name] = schema;
  }
  properties[writer.nameOf('created_at')] = { type: 'string', format: 'date-time' };
  properties[writer.nameOf('updated_at')] = { type: ['string', 'null'] };
  if (style.isHuge && depth < HUGE_DEPTH)
    for (const name of ['previous_version', 'copied_from'])
      properties[writer.nameOf(name)] = thingSchema(thing, writer, { style, vocabulary }, depth + 1);
  return { type: 'object', properties };
}

/** `[{ field, isRequired }]` or, for paging, `[{ written: [name, schema, description] }]`. */
function parametersOf({ domain, thing, action }, { server, style, random, vocabulary }) {
  const own = thing.fields.map((key) => vocabulary.fields.get(key));
  const parameters = new Map();
  const add = (field, isRequired) => {
    if (!parameters.has(field.key)) parameters.set(field.key, { field, isRequired });
  };
  const reference = (one) => ({
    key: `${wordsIn(one).join('_')}_id`,
    type: 'id',
    descriptions: [`ID of the ${one}`, `The ${one} ID`, `Unique identifier of the ${one}`],
  });
  for (const word of action.takes) {
    if (word === 'id') {
      const field = reference(thing.one);
      add(style.idName === 'thing' ? field : { ...field, key: style.idName }, true);
    } else if (word === 'home') {
      if (random.chance(0.6) && thing.one !== domain.home) add(reference(domain.home), random.chance(0.6));
    } else if (word === 'all')
      own.forEach((field, place) => add(field, place === 0 || (place === 1 && random.chance(0.4))));
    else if (word === 'few') own.slice(0, 3).forEach((field, place) => add(field, place === 0));
    else if (word === 'some')
      random.sample(own, 2 + Math.floor(random.next() * 2)).forEach((field) => add(field, false));
    else if (word === 'page')
      PAGES[style.pages].forEach((written) => parameters.set(written[0], { written, isRequired: false }));
    else add(vocabulary.fields.get(word), action.takes.indexOf(word) === 0 || random.chance(0.4));
  }
  // Lists without any parameter are common among small servers.
  if (action.key === 'list' && server.schema === 'bare' && random.chance(0.4)) return [];
  const share = style.isWide ? random.next() ** 2 : random.next() * 0.9;
  for (const field of style.common) if (random.chance(share)) add(field, false);
  return [...parameters.values()];
}

class SchemaWriter {
  definitions = new Map();

  constructor({ server, style, random, vocabulary, isOutput = false }) {
    this.style = style;
    this.schema = server.schema;
    this.random = random;
    this.shapes = vocabulary.shapes;
    this.isOutput = isOutput;
  }

  /** The object of all parameters of a tool. */
  object(parameters) {
    const required = [];
    const properties = {};
    for (const { field, written, isRequired } of parameters) {
      const [name, schema] = written === undefined ? this.member(field, isRequired) : this.#page(written);
      properties[name] = schema;
      if (isRequired) required.push(name);
    }
    const schema = { type: 'object', properties };
    return required.length > 0 ? { ...schema, required } : schema;
  }

  /** Name and schema of one field. */
  member(field, isRequired = true, depth = 0) {
    const name = this.nameOf(field.key);
    const described = this.#describe(field, this.#typeOf(field, depth));
    if (this.schema !== 'python' || this.isOutput) return [name, described];
    const title = wordsIn(field.key).map(capitalized).join(' ');
    if (isRequired) return [name, { ...described, title }];
    const { description, default: initial = null, ...type } = described;
    return [
      name,
      { anyOf: [type, { type: 'null' }], default: initial, ...(description && { description }), title },
    ];
  }

  nameOf(key) {
    const words = wordsIn(key.replace(/_(?:value|text|list|map)$/, ''));
    return this.style.isCamel ? camelCase(words) : words.join('_');
  }

  #page([key, schema, description]) {
    const isDescribed = this.schema !== 'bare';
    return [this.nameOf(key), isDescribed ? { ...schema, description } : { type: schema.type }];
  }

  #describe({ descriptions, choices, initial, least, most }, schema) {
    const isBare = this.schema === 'bare' || (this.isOutput && this.schema !== 'openapi');
    const written = { ...schema };
    if (!isBare && this.schema !== 'plain') {
      if (least !== undefined) written.minimum = least;
      if (most !== undefined) written.maximum = most;
    }
    if (initial !== undefined && !isBare) written.default = initial;
    if (descriptions.length > 0 && !isBare && this.random.chance(this.style.describedShare)) {
      const text = this.random.pick(descriptions);
      const repeated = choices && this.style.repeatsChoices ? `. One of: ${choices.join(', ')}` : '';
      written.description = text + repeated;
    }
    return written;
  }

  #typeOf({ type, choices, shape }, depth) {
    switch (type) {
      case 'integer':
      case 'number':
        return { type };
      case 'flag':
        return { type: 'boolean' };
      case 'date':
        return this.#formatted('date', '2031-05-17');
      case 'time':
        return this.#formatted('date-time', '2031-05-17T09:30:00Z');
      case 'email':
        return this.#formatted('email', 'ada@example.org');
      case 'uri':
        return this.#formatted('uri', 'https://example.org/a');
      case 'id':
        return this.schema === 'strict' && this.random.chance(0.15)
          ? { type: 'string', pattern: '^[a-z0-9_-]{4,40}$' }
          : { type: 'string' };
      case 'tags':
        return { type: 'array', items: { type: 'string' } };
      case 'map':
        return {
          type: 'object',
          additionalProperties: this.schema === 'openapi' ? { type: 'string' } : true,
        };
      case 'choice':
        return this.#choice(choices);
      case 'any':
        return this.#anything();
      case 'many_numbers':
        return { type: 'array', items: { type: 'number' } };
      case 'many_rows':
        return { type: 'array', items: { type: 'array', items: {} } };
      case 'one':
        return this.#shape(shape, depth);
      case 'many':
        return { type: 'array', items: this.#shape(shape, depth) };
      default:
        return { type: 'string' };
    }
  }

  #formatted(format, example) {
    if (this.schema === 'openapi') return { type: 'string', format, example };
    return this.schema === 'strict' && this.random.chance(0.3)
      ? { type: 'string', format }
      : { type: 'string' };
  }

  #choice(choices) {
    if (this.schema === 'openapi' && this.random.chance(0.3))
      return { oneOf: choices.map((value) => ({ const: value, title: capitalized(value) })) };
    return { type: 'string', enum: choices };
  }

  #anything() {
    const types = ['string', 'number', 'boolean'].map((type) => ({ type }));
    if (this.schema === 'python') return { anyOf: types };
    return this.schema === 'openapi' || this.schema === 'strict' ? { oneOf: types } : {};
  }

  #shape(name, depth) {
    if (this.isOutput && this.schema === 'plain') return { type: 'object' };
    if (this.schema === 'python') return this.#defined(name);
    const schema = this.#members(name, depth);
    if (this.schema === 'strict') return { ...schema, additionalProperties: false };
    return this.schema === 'openapi' && this.random.chance(0.15) ? { allOf: [schema] } : schema;
  }

  #defined(name) {
    const title = wordsIn(name).map(capitalized).join('');
    if (!this.definitions.has(title)) {
      this.definitions.set(title, {});
      this.definitions.set(title, { ...this.#members(name, 0), title });
    }
    return { $ref: `#/$defs/${title}` };
  }

  #members(name, depth) {
    const members = this.shapes.get(name);
    const properties = {};
    for (const member of members) {
      if (member.type === 'self') {
        if (this.schema === 'python') properties[member.key] = { type: 'array', items: this.#defined(name) };
        else if (depth < DEPTH[this.schema])
          properties[member.key] = { type: 'array', items: this.#members(name, depth + 1) };
      } else {
        const [key, schema] = this.member(member, true, depth + 1);
        properties[key] = schema;
      }
    }
    return { type: 'object', properties, required: [Object.keys(properties)[0]] };
  }
}
