// Prints the score of conformance runs, and compares the misses with the expected ones.
//
//   node score.mjs RESULTS EXPECTED
//
// RESULTS has a folder for each side and revision, such as `server-2026-07-28`, with the results of the suite.
// A line of EXPECTED is `SIDE REVISION SCENARIO:CHECK -- REASON`; `*` stands for any revision, and at the end of a
// scenario or a check for any rest.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const [results, expectedFile] = process.argv.slice(2)
const expected = []
for (const [index, line] of readFileSync(expectedFile, 'utf8').split('\n').entries()) {
  if (!line.trim() || line.startsWith('#')) continue
  const parts = /^(server|client) (\S+) (\S+?):(\S+) -- (.+)$/.exec(line)
  if (!parts) throw new Error(`${expectedFile}:${index + 1}: expected SIDE REVISION SCENARIO:CHECK -- REASON`)
  const [, side, revision, scenario, check, reason] = parts
  expected.push({ side, revision, scenario, check, reason, line: index + 1, misses: 0, passes: 0 })
}

const matches = (pattern, text) =>
  pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern

// The folders of a run are nested, as names of scenarios have slashes.
function* checks(folder, name = '') {
  const file = join(folder, 'checks.json')
  if (existsSync(file)) yield [name.replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, ''), JSON.parse(readFileSync(file, 'utf8'))]
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) yield* checks(join(folder, entry.name), name ? `${name}/${entry.name}` : entry.name)
  }
}

const unexpected = []
for (const run of readdirSync(results).sort()) {
  const parts = /^(server|client)-([-\d]+)$/.exec(run)
  if (!parts) continue
  const [, side, revision] = parts
  let passed = 0
  let missed = 0
  let scenarios = 0
  const reasons = new Map()
  for (const [folder, list] of checks(join(results, run))) {
    const scenario = side === 'server' ? folder.replace(/^server-/, '') : folder
    scenarios += 1
    for (const check of list) {
      const isMiss = check.status === 'FAILURE' || check.status === 'WARNING'
      if (!isMiss && check.status !== 'SUCCESS') continue
      const entry = expected.find(
        (entry) =>
          entry.side === side &&
          matches(entry.revision, revision) &&
          matches(entry.scenario, scenario) &&
          matches(entry.check, check.id),
      )
      if (!isMiss) {
        passed += 1
        if (entry) entry.passes += 1
        continue
      }
      missed += 1
      if (entry) {
        entry.misses += 1
        reasons.set(entry.reason, (reasons.get(entry.reason) ?? 0) + 1)
      } else {
        unexpected.push(`${side} ${revision} ${scenario}:${check.id} (${check.status}): ${check.errorMessage ?? check.description}`)
      }
    }
  }
  console.log(`${side} ${revision}: ${passed} of ${passed + missed} checks in ${scenarios} scenarios`)
  for (const [reason, count] of reasons) console.log(`  ${count} expected: ${reason}`)
}

// An entry with a pattern may cover checks that pass.
const stale = expected.filter((entry) => entry.misses === 0)
for (const entry of stale) console.log(`error: line ${entry.line} of the expected misses is out of date: nothing misses it`)
for (const line of unexpected) console.log(`error: unexpected miss: ${line}`)
process.exit(stale.length || unexpected.length ? 1 : 0)
