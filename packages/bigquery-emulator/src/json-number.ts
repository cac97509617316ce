/**
 * How the service writes a FLOAT64 within JSON: by Grisu2, which comes back as the same number but in one case of a thousand has
 * other digits than the shortest ones. As it also compares what it was given with what it would write, such a number is refused.
 */

/** A number as `f * 2 ** e`. */
interface Scaled {
  readonly f: bigint;
  readonly e: number;
}

/** Bits of a significand while it is worked on. */
const BITS = 64;
const HIDDEN_BIT = 1n << 52n;

/** A finite number as JSON of BigQuery has it, with a point or an exponent. */
export function doubleText(number: number): string {
  const sign = number < 0 || Object.is(number, -0) ? '-' : '';
  if (number === 0) return `${sign}0.0`;
  const { digits, exponent } = digitsOf(Math.abs(number));
  return sign + formatted(digits, digits.length + exponent);
}

/** True when a number of JSON is worth what the service would write for it. */
export function isExact(source: string): boolean {
  const number = Number(source);
  return Number.isFinite(number) && worth(source) === worth(doubleText(number));
}

/** A decimal number in one form only. */
function worth(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const plain = digits.replace(/0+$/, '');
  if (plain === '') return '0';
  return `${sign}${plain}e${Number(exponent) - fraction.length + digits.length - plain.length}`;
}

/** `point`: how many digits stand before the point. */
function formatted(digits: string, point: number): string {
  const [least, most] = [-4, 15];
  if (digits.length <= point && point <= most) return `${digits.padEnd(point, '0')}.0`;
  if (point > 0 && point <= most) return `${digits.slice(0, point)}.${digits.slice(point)}`;
  if (point > least && point <= 0) return `0.${'0'.repeat(-point)}${digits}`;
  const mantissa = digits.length === 1 ? digits : `${digits.slice(0, 1)}.${digits.slice(1)}`;
  const exponent = String(Math.abs(point - 1)).padStart(2, '0');
  return `${mantissa}e${point < 1 ? '-' : '+'}${exponent}`;
}

function digitsOf(number: number): { readonly digits: string; readonly exponent: number } {
  const bits = new BigUint64Array(Float64Array.of(number).buffer)[0] ?? 0n;
  const [biased, fraction] = [Number(bits >> 52n), bits & (HIDDEN_BIT - 1n)];
  const value = { f: biased === 0 ? fraction : fraction + HIDDEN_BIT, e: (biased || 1) - 1_075 };
  const upper = normal({ f: value.f * 2n + 1n, e: value.e - 1 });
  // Beneath a power of two numbers lie closer.
  const isPower = fraction === 0n && biased > 1;
  const lower = isPower
    ? { f: value.f * 4n - 1n, e: value.e - 2 }
    : { f: value.f * 2n - 1n, e: value.e - 1 };
  const power = tenFor(upper.e);
  const high = times(upper, power.scaled);
  const low = times({ f: lower.f << BigInt(lower.e - upper.e), e: upper.e }, power.scaled);
  const middle = times(normal(value), power.scaled);
  const top = { f: high.f - 1n, e: high.e };
  const made = generated(top, top.f - (low.f + 1n), top.f - middle.f);
  return { digits: made.digits, exponent: made.exponent - power.exponent };
}

function normal({ f, e }: Scaled): Scaled {
  const shift = BITS - f.toString(2).length;
  return { f: f << BigInt(shift), e: e - shift };
}

const times = (a: Scaled, b: Scaled): Scaled => ({
  f: (a.f * b.f + (1n << 63n)) >> 64n,
  e: a.e + b.e + BITS,
});

/** A power of ten that brings a number to between 2^-60 and 2^-32. */
function tenFor(e: number): { readonly scaled: Scaled; readonly exponent: number } {
  const [first, step] = [-300, 8];
  const wanted = -60 - e - 1;
  const least = Math.trunc((wanted * 78_913) / 2 ** 18) + (wanted > 0 ? 1 : 0);
  const exponent = first + step * Math.trunc((least - first + step - 1) / step);
  return { scaled: tenTo(exponent), exponent };
}

const POWERS = new Map<number, Scaled>();

/** A power of ten, to 64 bits. */
function tenTo(exponent: number): Scaled {
  const known = POWERS.get(exponent);
  if (known !== undefined) return known;
  const whole = 10n ** BigInt(Math.abs(exponent));
  // One bit more than is kept, to round by.
  const length = whole.toString(2).length;
  const shift = exponent < 0 ? BITS + length : BITS + 1 - length;
  const long =
    exponent < 0
      ? (1n << BigInt(shift)) / whole
      : shift < 0
        ? whole >> BigInt(-shift)
        : whole << BigInt(shift);
  const extra = long.toString(2).length - BITS;
  const made = { f: (long + (1n << BigInt(extra - 1))) >> BigInt(extra), e: extra - shift };
  POWERS.set(exponent, made);
  return made;
}

/** Digits from the top down until what is left lies within `delta`; the last is brought near to what lies `distance` beneath. */
function generated(
  top: Scaled,
  delta: bigint,
  distance: bigint,
): { readonly digits: string; readonly exponent: number } {
  const shift = BigInt(-top.e);
  const one = 1n << shift;
  const whole = String(top.f >> shift);
  let fraction = top.f & (one - 1n);
  for (let length = 1; length <= whole.length; length++) {
    const left = whole.length - length;
    const unit = 10n ** BigInt(left) * one;
    const rest = top.f % unit;
    if (rest > delta) continue;
    const digits = rounded(whole.slice(0, length), { distance, delta, rest, unit });
    return { digits, exponent: left };
  }
  let [digits, exponent, scale] = [whole, 0, 1n];
  do {
    fraction *= 10n;
    digits += String(fraction >> shift);
    fraction &= one - 1n;
    scale *= 10n;
    exponent--;
  } while (fraction > delta * scale);
  return {
    digits: rounded(digits, {
      distance: distance * scale,
      delta: delta * scale,
      rest: fraction,
      unit: one,
    }),
    exponent,
  };
}

function rounded(
  digits: string,
  { distance, delta, rest, unit }: Readonly<Record<'distance' | 'delta' | 'rest' | 'unit', bigint>>,
): string {
  let [last, at] = [Number(digits.slice(-1)), rest];
  while (
    at < distance &&
    delta - at >= unit &&
    (at + unit < distance || distance - at > at + unit - distance)
  ) {
    last--;
    at += unit;
  }
  return digits.slice(0, -1) + String(last);
}
