#!/usr/bin/env bash
# Builds the wheel and the source archive, installs the wheel in a bare environment, and follows the README there.
#
#   tools/release_check.sh          leaves the built files in dist/
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
log=$PWD/tests/logs/gemma3-eval.log

fail() { echo "release check: $1" >&2; exit 1; }

if [ -z "${DIST:-}" ]; then DIST=$PWD/dist; fi
rm -rf "$DIST"; mkdir -p "$DIST"
"$python" -m venv "$place/build"
"$place/build/bin/pip" install -q build
"$place/build/bin/python" -m build --sdist --wheel --outdir "$DIST" . >"$place/build.log" 2>&1 || { tail -20 "$place/build.log" >&2; fail "the build fails"; }
wheel=$(ls "$DIST"/*.whl)

"$python" -m venv "$place/bare"
"$place/bare/bin/pip" install -q "$wheel"
"$place/bare/bin/pip" check >/dev/null || fail "the installed packages do not fit together"
export TROUBLESHOOT_CACHE=$place/cache PATH=$place/bare/bin:$PATH
cd "$place"  # nothing of the checkout may be found by accident

# What the README promises: the version, the three ways to use it, the exit statuses.
version=$(troubleshoot --version)
case $version in *"$(basename "$wheel" | cut -d- -f2)"*) ;; *) fail "--version says $version" ;; esac
case $version in *"not recorded"*) fail "the wheel does not know the date of its knowledge; build it from a git checkout" ;; esac
expect() {  # expect STATUS TEXT COMMAND...: what a command must end with and print
    local status=$1 text=$2 said=0 printed; shift 2
    printed=$("$@" 2>&1) || said=$?
    [ "$said" = "$status" ] || fail "$*: status $said, expected $status: $printed"
    case $printed in *"$text"*) ;; *) fail "$*: did not print '$text': $printed" ;; esac
}
expect 1 cache-object-float troubleshoot "$log"
expect 1 cache-object-float bash -c "cat '$log' | troubleshoot -q"
expect 1 cache-object-float bash -c "set -o pipefail; (cat '$log'; exit 1) 2>&1 | troubleshoot"
expect 0 "" bash -c "echo hello | troubleshoot -q"
expect 2 missing.log troubleshoot missing.log
expect 0 cache-object-float troubleshoot list
expect 0 HybridCache troubleshoot show cache-object-float
expect 0 cache-object-float troubleshoot search HybridCache float
expect 0 cache-object-float python -c "import troubleshooter; print(troubleshooter.diagnose_file('$log').diagnoses[0].id)"

package=$(python -c 'import pathlib, troubleshooter; print(pathlib.Path(troubleshooter.__file__).parent)')
ours=$(du -cmL "$package" "$package/../kb" | tail -1 | cut -f1)
all=$(du -sm "$place/bare/lib" | cut -f1)
files=$(find "$package" "$package/../kb" -type f -not -name '*.pyc' | wc -l)
echo "release check: $version is good; wheel $(du -m "$wheel" | cut -f1) MB, installed $ours MB in $files files, with all it needs $all MB"
