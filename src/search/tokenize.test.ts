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
  ])('splits %s into its words', (identifier, terms) => {
    // `by` is a stop word, and so is not among them.
    expect(tokenize(identifier)).toEqual(terms);
  });

  it('knows forms of one word as one term', () => {
    for (const forms of [
      'repository repositories',
      'delete deleted deleting deletes',
      'calculate calculation calculator',
      'deploy deployment',
    ]) {
      expect(new Set(forms.split(' ').flatMap(tokenize)).size, forms).toBe(1);
    }
  });

  it('keeps words apart that only look alike', () => {
    expect(tokenize('customer')).not.toEqual(tokenize('custom'));
    expect(tokenize('folder')).not.toEqual(tokenize('fold'));
    expect(tokenize('news')).not.toEqual(tokenize('new'));
  });

  it('leaves out stop words and the filler of requests', () => {
    expect(tokenize("Hi, could you please help me with the issue? I'd like to close it.")).toEqual([
      'issu',
      'clos',
    ]);
  });

  it('folds case, width and accents', () => {
    expect(tokenize('Café ＲＥＳＵＭＥ')).toEqual(tokenize('cafe resume'));
  });

  it('takes Chinese, Japanese and Korean in pairs of characters', () => {
    expect(tokenize('查询天气')).toEqual(['查询', '询天', '天气']);
    expect(tokenize('날씨')).toEqual(['날씨']);
    expect(tokenize('図')).toEqual(['図']);
  });

  it('keeps words of other alphabets whole', () => {
    expect(tokenize('Найти погоду')).toEqual(['найти', 'погоду']);
  });

  it('drops strings that are too long to be words', () => {
    expect(tokenize(`image ${'iVBORw0KGgo'.toLowerCase().repeat(1_000).replaceAll('0', 'o')}`)).toEqual([
      'imag',
    ]);
  });

  it('gives terms that are stable for any text', () => {
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
  it('offers the parts of an identifier as one word', () => {
    expect(joinedTerms('GitHub')).toEqual(['github']);
    expect(joinedTerms('file_system')).toEqual(['filesystem']);
    expect(joinedTerms('plain words')).toEqual([]);
  });
});
