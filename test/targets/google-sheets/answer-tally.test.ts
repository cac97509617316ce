import { expect, it } from 'vitest';
import { AnswerTally } from '../../../src/targets/google-sheets/answer-tally.ts';
import { NAME, row } from '../../core/store-fixtures.ts';

/** The lines of a question whose submissions have this many different answers, ten times each. */
function linesOf(answers: number, before: Parameters<AnswerTally['questions']>[0]) {
  const tally = new AnswerTally([{ ...NAME, hashed: false, inSchema: true }]);
  const rows = Array.from({ length: 10 * answers }, (_, at) =>
    row(`s${at}`, { f_name: `answer ${at % answers}` }),
  );
  tally.add(rows);
  return tally.questions(before);
}

it('a question with choices gets a line for each of 12 answers, and keeps them if there are more', () => {
  const [question] = linesOf(12, []);
  expect(question).toMatchObject({ listed: 12 });
  expect(linesOf(13, [])).toEqual([]);
  expect(linesOf(13, question === undefined ? [] : [question])).toEqual([question]);
  // By then people write their own answers.
  expect(linesOf(41, question === undefined ? [] : [question])).toEqual([]);
});
