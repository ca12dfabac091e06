import { describe, expect, test } from 'vitest';

import { Emitter } from './emitter.ts';

interface Events {
  word: string;
  number: number;
}

describe('Emitter', () => {
  test('emitter: calls the listeners of an event synchronously, in order', () => {
    const emitter = new Emitter<Events>();
    const told: string[] = [];
    emitter.on('word', (word) => told.push(`first ${word}`));
    emitter.on('word', (word) => told.push(`second ${word}`));
    emitter.on('number', (number) => told.push(`number ${number}`));
    emitter.emit('word', 'a');
    expect(told).toEqual(['first a', 'second a']);
  });

  test('emitter: stops calling a disposed listener', () => {
    const emitter = new Emitter<Events>();
    const told: string[] = [];
    const listening = emitter.on('word', (word) => told.push(word));
    emitter.emit('word', 'a');
    listening[Symbol.dispose]();
    listening[Symbol.dispose]();
    emitter.emit('word', 'b');
    expect(told).toEqual(['a']);
  });

  test('emitter: keeps the second registration of a listener when the first is disposed', () => {
    const emitter = new Emitter<Events>();
    const told: string[] = [];
    const listener = (word: string): void => void told.push(word);
    const first = emitter.on('word', listener);
    emitter.on('word', listener);
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    emitter.emit('word', 'a');
    expect(told).toEqual(['a']);
  });

  test('emitter: calls the other listeners when one throws, and reports the error', () => {
    const errors: unknown[] = [];
    const emitter = new Emitter<Events>((error) => errors.push(error));
    const told: string[] = [];
    const problem = new Error('listener');
    emitter.on('word', () => {
      throw problem;
    });
    emitter.on('word', (word) => told.push(word));
    emitter.emit('word', 'a');
    expect(told).toEqual(['a']);
    expect(errors).toEqual([problem]);
  });

  test('emitter: does not call listeners that are added during an event', () => {
    const emitter = new Emitter<Events>();
    const told: string[] = [];
    emitter.on('word', (word) => {
      told.push(word);
      if (told.length < 5) emitter.on('word', () => told.push('inner'));
    });
    emitter.emit('word', 'a');
    expect(told).toEqual(['a']);
  });
});
