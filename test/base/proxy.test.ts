import { describe, expect, it } from 'vitest';
import { proxyFor } from '../../src/base/proxy.ts';

const url = new URL('http://proxy.test:3128');
const isProxied = (address: string, noProxy = ''): boolean => {
  const except = noProxy.split(/[,\s]+/).filter((entry) => entry !== '');
  return proxyFor(address, { url, except }) !== undefined;
};

describe('a proxy', () => {
  it('leads to https addresses elsewhere', () => {
    expect(isProxied('https://forms.test/v1')).toBe(true);
    expect(isProxied('https://10.0.0.1')).toBe(true);
    expect(proxyFor('https://forms.test', undefined)).toBeUndefined();
  });

  it.each([
    'https://localhost:8443',
    'https://LOCALHOST',
    'https://127.0.0.1',
    'https://127.9.9.9:1',
    'https://[::1]:8443',
    'http://127.0.0.1:4010',
    'http://[::1]:4010',
  ])('never leads to this machine: %s', (address) => {
    expect(isProxied(address)).toBe(false);
  });

  it('never carries plain http', () => {
    expect(isProxied('http://forms.test')).toBe(false);
  });

  it.each([
    ['forms.test', 'https://forms.test', true],
    ['FORMS.test', 'https://forms.TEST/v1', true],
    ['forms.test', 'https://eu.forms.test', true],
    ['.forms.test', 'https://eu.forms.test', true],
    ['.forms.test', 'https://forms.test', true],
    ['*.forms.test', 'https://eu.forms.test', true],
    ['*.forms.test', 'https://forms.test', false],
    ['forms.test', 'https://myforms.test', false],
    ['forms.test.', 'https://forms.test', true],
    ['forms.test', 'https://forms.test.', true],
    ['other.test, forms.test', 'https://forms.test', true],
    ['other.test forms.test', 'https://forms.test', true],
    ['forms.test:443', 'https://forms.test', true],
    ['forms.test:8443', 'https://forms.test', false],
    ['forms.test:8443', 'https://forms.test:8443', true],
    ['*', 'https://forms.test', true],
    ['*:8443', 'https://forms.test', false],
    ['10.0.0.0/8', 'https://10.1.2.3', true],
    ['10.0.0.0/8', 'https://11.1.2.3', false],
    ['10.0.0.0/8', 'https://forms.test', false],
    ['10.0.0.0/99', 'https://10.1.2.3', false],
    ['1.2.3', 'https://10.1.2.3', false],
    ['fd00::/8', 'https://[fd00::1]', true],
    ['fd00::1', 'https://[fd00::1]', true],
    ['[fd00::1]:443', 'https://[fd00::1]', true],
    ['[fd00::1]:8443', 'https://[fd00::1]', false],
  ])('is passed by with NO_PROXY=%s for %s: %s', (noProxy, address, isDirect) => {
    expect(isProxied(address, noProxy)).toBe(!isDirect);
  });
});
