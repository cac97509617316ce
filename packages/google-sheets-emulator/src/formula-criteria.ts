import { CellError, compareValues, type Value } from './formula-values.ts';

/** `*` and `?` match any text. */
function wildcards(text: string): RegExp {
  const source = text.replace(/[\s\S]/g, (sign: string) => {
    if (sign === '*') return '[\\s\\S]*';
    return sign === '?' ? '[\\s\\S]' : sign.replace(/[.+^${}()|[\]\\]/, '\\$&');
  });
  return new RegExp(`^${source}$`, 'i');
}

/** COUNTIF's criterion: `>5`, `<>x`, or an equal value; `*` and `?` match any text. */
export function criterion(value: Value): (candidate: Value) => boolean {
  const match = /^(<>|<=|>=|<|>|=)?([\s\S]*)$/.exec(
    String(value instanceof CellError ? '' : (value ?? '')),
  );
  const [operator, text] = [match?.[1] ?? '=', match?.[2] ?? ''];
  const number = text.trim() === '' ? Number.NaN : Number(text);
  const operand: Value = Number.isNaN(number) ? text : number;
  if (typeof operand === 'string' && (operator === '=' || operator === '<>')) {
    const pattern = wildcards(operand);
    const fits = (candidate: Value): boolean => {
      if (candidate === null) return operand === '';
      // `*` and `?` match only text.
      if (typeof candidate === 'string') return pattern.test(candidate);
      return typeof candidate === 'boolean' && operand.toLowerCase() === `${candidate}`;
    };
    return (candidate) => fits(candidate) === (operator === '=');
  }
  return (candidate) => {
    if (typeof candidate !== typeof operand) return operator === '<>';
    const order = compareValues(candidate, operand);
    if (operator === '=') return order === 0;
    if (operator === '<>') return order !== 0;
    return operator.startsWith('<')
      ? order < 0 || (operator === '<=' && order === 0)
      : order > 0 || (operator === '>=' && order === 0);
  };
}
