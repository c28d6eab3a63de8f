#!/usr/bin/env bash
# Makes a site of test logs and opens every page of it in Chromium. Installs what that needs, and says so.
# Another site can be looked at by naming it: tests/pages/run.sh SITE
set -euo pipefail
cd "$(dirname "$0")"

. ../need.sh

need "${CHROMIUM:-chromium}" chromium fonts-dejavu-core
need node nodejs
need npm npm
export CHROMIUM=$(command -v "${CHROMIUM:-chromium}")

# Packages and the site lie outside of the source tree.
work=${IMPACT_PAGES_DIR:-${TMPDIR:-/tmp}/impact-page-tests}
mkdir -p "$work"
cp package.json package-lock.json ./*.mjs "$work/"
if ! cmp -s package-lock.json "$work/installed"; then
    echo "pages: installing playwright-core, axe-core and html-validate from npm into $work"
    (cd "$work" && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --no-audit --no-fund --silent)
    cp package-lock.json "$work/installed"
fi

if [ $# -gt 0 ]; then
    exec node "$work/check.mjs" "$@"
fi

impact=${IMPACT:-}
if [ -z "$impact" ]; then
    (cd ../.. && cargo build --quiet)
    impact=$(cd ../.. && pwd)/target/debug/impact
fi
rm -rf "$work/site" "$work/fixture" "$work/compare.html"
node "$work/fixture.mjs" "$work/fixture"
# One of the logs is broken on purpose: that is exit code 3.
"$impact" appendix --site-spec "$work/fixture/spec.json" --output-dir "$work/site" || [ $? = 3 ]
"$impact" compare "$work/fixture/logs/game" --by variant --metrics-from "$work/fixture/spec.json" \
    --metric 'energy,co2,time,gpu,Score per <kWh>,none=none.csv:last(score)' --output "$work/compare.html"
(cd ../.. && "$impact" bench --runs 5 --warmup 1 --subtract-idle --force --output "$work/bench.html" \
    -- './examples/primes.sh 100' -- './examples/primes.sh 400')
node "$work/check.mjs" "$work/site" "$work/compare.html" "$work/bench.html"
node "$work/pictures.mjs" "$work/site"
