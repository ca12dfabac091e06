import { capitalized, wordsIn } from './names.mjs';

/** The description of a tool in the style of its server; rarely there is none. */
export function writeDescription(tool, context) {
  const { server, random } = context;
  if (server.prose === 'terse' && random.chance(0.01)) return undefined;
  const writer = new DescriptionWriter(tool, context);
  switch (server.prose) {
    case 'terse':
      return writer.opening().replace(/\.$/, '');
    case 'guided':
      return writer.guided();
    case 'manual':
      return writer.manual();
    case 'docstring':
      return writer.docstring();
    default:
      return writer.plain();
  }
}

class DescriptionWriter {
  constructor(tool, context) {
    this.tool = tool;
    this.context = context;
    this.random = context.random;
    this.phrases = context.vocabulary.phrases;
  }

  opening() {
    const sentence = this.#filled(this.random.pick(this.tool.action.sentences));
    const spoken = this.context.style.isThirdPerson ? thirdPerson(sentence) : sentence;
    return `${capitalized(spoken)}.`;
  }

  plain() {
    const { server } = this.context;
    const more = server.extras.has('remarks')
      ? this.#remarks(3)
      : this.random.chance(0.35)
        ? this.#remarks(1)
        : [];
    return [this.opening(), ...more].join(' ');
  }

  guided() {
    const { action } = this.tool;
    const sentences = [
      ...this.#gloss(0.3),
      ...(this.random.chance(0.8) ? [this.#phrase(`use-${action.kind}`)] : []),
      ...(this.random.chance(0.5) ? [this.#phrase('when-not')] : []),
      ...(this.random.chance(0.5) ? [this.#phrase(`returns-${action.answer}`)] : []),
      ...(this.random.chance(0.4) ? this.#remarks(1) : []),
      ...(this.random.chance(0.4) ? this.#several('tips', 2) : []),
    ];
    const { extras } = this.context.server;
    if (extras.has('remarks')) sentences.push(...this.#remarks(2));
    return extras.has('emoji') ? this.#decorated(sentences) : [this.opening(), ...sentences].join(' ');
  }

  #decorated(sentences) {
    const numbered = (lines) => lines.map((line, at) => `  ${at + 1}. ${line}`).join('\n');
    const guidance = sentences.length === 0 ? '' : `\n\n📋 Guidance:\n${numbered(sentences)}`;
    return `\n🎯 Purpose:\n${numbered([this.opening()])}${guidance}\n`;
  }

  /** Mostly a page, now and then several. */
  manual() {
    const { action } = this.tool;
    const length = 1 + Math.floor(this.random.next() ** 6 * 12);
    const section = (title, lines) => `## ${title}\n${listed(lines)}`;
    const sections = [
      [this.opening(), ...this.#gloss(0.6)].join(' '),
      section('When to use', [...this.#several(`use-${action.kind}`, 3), this.#phrase('when-not')]),
    ];
    if (this.random.chance(0.7)) sections.push(section('Parameters', this.#parameterLines()));
    if (this.random.chance(0.3 * length)) sections.push(section('Steps', this.#several('steps', 2 + length)));
    for (let at = 0; at < length; at++)
      if (this.random.chance(0.6))
        sections.push(`## Example\n${this.#phrase('examples')}\n\`\`\`json\n${this.#example()}\n\`\`\``);
    sections.push(`## Returns\n${this.#phrase(`returns-${action.answer}`)}`);
    if (this.random.chance(0.6)) sections.push(`**Errors**\n${listed(this.#several('errors', 3))}`);
    if (length > 1) sections.push(section('Tips', this.#several('tips', 3 * length)));
    if (this.random.chance(0.7)) sections.push(`> **Note:** ${this.#remarks(2).join(' ')}`);
    return sections.join('\n\n');
  }

  docstring() {
    const parameters = Object.entries(this.context.input.properties).map(
      ([name, { description = 'see above' }]) => `    ${name}: ${description}`,
    );
    const args = parameters.length === 0 ? [] : [`Args:\n${parameters.join('\n')}`];
    const returns = `Returns:\n    ${this.#phrase(`returns-${this.tool.action.answer}`)}`;
    const raises = this.random.chance(0.3) ? [`Raises:\n    ${this.#phrase('errors')}`] : [];
    return `${[[this.opening(), ...this.#remarks(1)].join(' '), ...args, returns, ...raises].join('\n\n')}\n`;
  }

  #gloss(probability) {
    const { one, gloss } = this.tool.thing;
    return gloss !== '' && this.random.chance(probability)
      ? [`${capitalized(withArticle(one))} is ${gloss}.`]
      : [];
  }

  /** Remarks about the domain and about limits, as they come. */
  #remarks(count) {
    const { remarks } = this.tool.domain;
    const general = this.phrases.get('limits').map((text) => this.#filled(text));
    return this.random.sample([...remarks, ...this.random.sample(general, remarks.length)], count);
  }

  #parameterLines() {
    const { properties, required = [] } = this.context.input;
    return Object.entries(properties).map(([name, { description = '', type = 'object' }]) => {
      const kind = `${type}${required.includes(name) ? ', required' : ''}`;
      return `\`${name}\` (${kind})${description === '' ? '' : `: ${description}`}`;
    });
  }

  #example() {
    const { properties } = this.context.input;
    const values = Object.entries(properties).map(([name, schema]) => [name, exampleOf(schema)]);
    return JSON.stringify(Object.fromEntries(values), undefined, 2);
  }

  #phrase(key) {
    return this.#filled(this.random.pick(this.phrases.get(key)));
  }

  #several(key, count) {
    return this.random.sample(this.phrases.get(key), count).map((text) => this.#filled(text));
  }

  /** Another tool of the server, if possible one for the same thing. */
  #related() {
    const { name, thing } = this.tool;
    const others = this.context.siblings.filter((other) => other.name !== name);
    const near = others.filter((other) => other.thing === thing);
    return this.random.pick(near.length > 0 ? near : others)?.name ?? name;
  }

  #filled(text) {
    const { thing, domain } = this.tool;
    const { server } = this.context;
    const words = {
      a: () => withArticle(thing.one, thing.many),
      one: () => thing.one,
      many: () => thing.many,
      home: () => `the ${domain.home}`,
      other: () => this.#related(),
      scope: () => server.name.split('-')[0],
      slug: () => wordsIn(thing.one).join('-'),
    };
    return text.replaceAll(/\{(\w+)\}/g, (_, word) => words[word]());
  }
}

function listed(lines) {
  return lines.map((line) => `- ${line}`).join('\n');
}

function exampleOf({ type, enum: values, items, default: initial }) {
  if (initial !== undefined) return initial;
  if (values !== undefined) return values[0];
  if (type === 'array') return items?.type === 'string' ? ['first', 'second'] : [];
  if (type === 'object') return {};
  if (type === 'boolean') return true;
  return type === 'integer' || type === 'number' ? 3 : 'example';
}

function withArticle(one, many) {
  if (one === many) return one;
  return `${/^(?:[aeio]|u(?!s))/.test(one) ? 'an' : 'a'} ${one}`;
}

/** "List tickets and return them" becomes "Lists tickets and returns them". */
function thirdPerson(sentence) {
  const [first, ...rest] = sentence.split(' ');
  return [inflected(first), ...rest]
    .join(' ')
    .replaceAll(/\band (return|show|start|get|drop|rotate)\b/g, (_, verb) => `and ${inflected(verb)}`);
}

function inflected(verb) {
  if (/(?:[sxo]|ch|sh)$/.test(verb)) return `${verb}es`;
  return /[^aeiou]y$/.test(verb) ? `${verb.slice(0, -1)}ies` : `${verb}s`;
}
