import { describe, expect, test } from 'vitest';

import { Emitter } from './emitter.ts';

interface Events {
  word: string;
  number: number;
}

describe('Emitter', () => {
  test('tells the listeners of an event, at once and in their order', () => {
    const emitter = new Emitter<Events>();
    const told: string[] = [];
    emitter.on('word', (word) => told.push(`first ${word}`));
    emitter.on('word', (word) => told.push(`second ${word}`));
    emitter.on('number', (number) => told.push(`number ${number}`));
    emitter.emit('word', 'a');
    expect(told).toEqual(['first a', 'second a']);
  });

  test('stops telling a listener that was disposed of', () => {
    const emitter = new Emitter<Events>();
    const told: string[] = [];
    const listening = emitter.on('word', (word) => told.push(word));
    emitter.emit('word', 'a');
    listening[Symbol.dispose]();
    listening[Symbol.dispose]();
    emitter.emit('word', 'b');
    expect(told).toEqual(['a']);
  });

  test('keeps the second of two equal listeners when the first is disposed of', () => {
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

  test('tells the others when one listener throws, and says what it threw', () => {
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

  test('does not tell those who begin to listen during an event', () => {
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
