// Grammar of the pieces on standard input, [{place, text}] as JSON: a line for each complaint, with tabs between place, rule,
// the words in question and the message. Arguments: rules of the checker that are not used.
import { readFileSync } from 'node:fs';
import { Dialect, LocalLinter } from 'harper.js';
import { binary } from 'harper.js/binary';

const linter = new LocalLinter({ binary, dialect: Dialect.British });
const rules = await linter.getLintConfig();
for (const rule of process.argv.slice(2)) {
    if (!(rule in rules)) {
        console.error(`the grammar checker has no rule ${rule}`);
        process.exit(2);
    }
    rules[rule] = false;
}
await linter.setLintConfig(rules);
for (const { place, text } of JSON.parse(readFileSync(0, 'utf8')))
    for (const [rule, complaints] of Object.entries(await linter.organizedLints(text, { language: 'plaintext' })))
        for (const each of complaints)
            console.log([place, rule, each.get_problem_text(), each.message()].join('\t').replaceAll('\n', ' '));
process.exit(0);
