import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { joinedTerms, tokenize } from './tokenize.ts';

describe('tokenize', () => {
  it.each([
    ['getUserById', ['get', 'user', 'id']],
    ['HTTPServerURL', ['http', 'server', 'url']],
    ['create_pull_request', ['creat', 'pull', 'request']],
    ['list-k8s-pods', ['list', 'k8s', 'pod']],
    ['s3.put.object', ['s3', 'put', 'object']],
    ['part2load', ['part', '2', 'load']],
  ])('tokenize: splits %s into its words', (identifier, terms) => {
    // `by` is a stop word, so it is missing here.
    expect(tokenize(identifier)).toEqual(terms);
  });

  it('tokenize: maps all forms of a word to one term', () => {
    for (const forms of [
      'repository repositories',
      'delete deleted deleting deletes',
      'calculate calculation calculator',
      'deploy deployment',
    ]) {
      expect(new Set(forms.split(' ').flatMap(tokenize)).size, forms).toBe(1);
    }
  });

  it('tokenize: keeps words apart that only look alike', () => {
    expect(tokenize('customer')).not.toEqual(tokenize('custom'));
    expect(tokenize('folder')).not.toEqual(tokenize('fold'));
    expect(tokenize('news')).not.toEqual(tokenize('new'));
  });

  it('tokenize: drops stop words and filler phrases', () => {
    expect(tokenize("Hi, could you please help me with the issue? I'd like to close it.")).toEqual([
      'issu',
      'clos',
    ]);
  });

  it('tokenize: folds case, width and accents', () => {
    expect(tokenize('Café ＲＥＳＵＭＥ')).toEqual(tokenize('cafe resume'));
  });

  it('tokenize: splits Chinese, Japanese and Korean into character pairs', () => {
    expect(tokenize('查询天气')).toEqual(['查询', '询天', '天气']);
    expect(tokenize('날씨')).toEqual(['날씨']);
    expect(tokenize('図')).toEqual(['図']);
  });

  it('tokenize: keeps words of other alphabets whole', () => {
    expect(tokenize('Найти погоду')).toEqual(['найти', 'погоду']);
  });

  it('tokenize: drops strings that are too long to be words', () => {
    expect(tokenize(`image ${'iVBORw0KGgo'.toLowerCase().repeat(1_000).replaceAll('0', 'o')}`)).toEqual([
      'imag',
    ]);
  });

  it('tokenize: returns non-empty terms without whitespace, the same each time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        const terms = tokenize(text);
        expect(terms.every((term) => term !== '' && !/\s/u.test(term))).toBe(true);
        expect(tokenize(text)).toEqual(terms);
      }),
    );
  });
});

describe('joinedTerms', () => {
  it('joined terms: joins the parts of an identifier into one word', () => {
    expect(joinedTerms('GitHub')).toEqual(['github']);
    expect(joinedTerms('file_system')).toEqual(['filesystem']);
    expect(joinedTerms('plain words')).toEqual([]);
  });
});
