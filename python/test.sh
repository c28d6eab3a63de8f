#!/usr/bin/env bash
# Tests the Python package as it is installed: lints, types, the suite, and a second environment without Rust.
# Installs what the tests need from PyPI below target/, and says so. With --all, also every CPython that pyenv has, and
# the frameworks (Debian's python3-torch, and PyTorch Lightning, transformers, Keras and scikit-learn from PyPI; 2 GB).
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/need.sh
root=$PWD
work=$root/target/python
python=${PYTHON:-python3}
need "$python" python3
need "${CHROMIUM:-chromium}" chromium fonts-dejavu-core
unset PYTHONPATH IMPACT_PROGRAM
export PIP_DISABLE_PIP_VERSION_CHECK=1

# environment FOLDER PYTHON PACKAGE...: a virtual environment with these packages; they are installed once.
environment() {
    local folder=$1 with=$2
    shift 2
    if [ "$(cat "$folder/installed" 2> /dev/null)" = "$*" ]; then return; fi
    "$with" -c 'import ensurepip' 2> /dev/null || need no-such-command python3-venv
    echo "python: installing $* from PyPI into ${folder#"$root"/}"
    rm -rf "$folder"
    "$with" -m venv ${system_packages:+--system-site-packages} "$folder"
    "$folder/bin/pip" install --quiet "$@"
    echo "$*" > "$folder/installed"
}

install() {
    "$1/bin/pip" install --quiet --no-deps --no-index --force-reinstall "$work"/wheels/impact_tracker-*.whl
}

# The suite must find the package where it is installed, not its sources.
suite() {
    local folder=$1
    shift
    (cd python/tests && "$folder/bin/python" -m pytest -q -c ../pyproject.toml --rootdir . -p no:cacheprovider "$@")
}

environment "$work/tools" "$python" $(tr '\n' ' ' < python/tests/requirements.txt)
tools=$work/tools/bin
"$tools/ruff" format --check --quiet python
"$tools/ruff" check --quiet python
(cd python && "$tools/mypy")

# A board whose limit can be set.
cargo build --quiet --package nvml-stub
export NVML_STUB=$root/target/debug/libnvml_stub.so

rm -rf "$work/wheels"
# The build that `pip install ./python` makes, without the optimisations that take minutes.
PATH=$tools:$PATH "$tools/pip" wheel --quiet --no-deps --no-build-isolation --wheel-dir "$work/wheels" \
    --config-settings=build-args='--profile dev' ./python
install "$work/tools"
suite "$work/tools" --ignore-glob='*test_framework_*' .

# Without Rust.
environment "$work/plain" "$python" pip
install "$work/plain"
mkdir -p "$work/empty"
(cd "$work/empty" && rm -rf runs && env -i HOME="$work/empty" PATH="$work/plain/bin:/usr/bin:/bin" python - << 'END'
import impact
with impact.track("runs/a", zone="FR", strict=True) as run:
    with run.phase("work"):
        sum(range(1_000_000))
assert run.co2 is not None and "work" in run.phases
assert len(impact.read("runs")) == 1
END
PATH="$work/plain/bin:/usr/bin:/bin" impact statement runs > /dev/null
PATH="$work/plain/bin:/usr/bin:/bin" python -m impact --version)

[ "${1:-}" = --all ] || exit 0

for other in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.{9,1[0-9]}.*/bin/python; do
    [ -x "$other" ] || continue
    name=$(basename "$(dirname "$(dirname "$other")")")
    echo "python: $name"
    environment "$work/$name" "$other" pytest
    install "$work/$name"
    suite "$work/$name" --ignore-glob='*test_framework_*' .
done

environment "$work/keras" "$python" keras jax scikit-learn pytest
install "$work/keras"
suite "$work/keras" test_framework_keras.py test_framework_sklearn.py

/usr/bin/python3 -c 'import torch' 2> /dev/null || need no-such-command python3-torch python3-venv
system_packages=1 environment "$work/torch" /usr/bin/python3 \
    transformers==4.36.2 accelerate==0.25.0 pytorch-lightning==2.0.9 'torchmetrics<1.3' 'numpy<2' pytest
install "$work/torch"
suite "$work/torch" test_framework_torch.py test_framework_lightning.py test_framework_huggingface.py
