"""Compilers, build tools, version control and package managers: builds with warnings and probes that fail by design."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from recorder import Run, project, record_all

WARN_C = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
static int unused_error(void) { return -1; }
double loss(double x) { double nan_value; if (x > 0) nan_value = log(-x); return nan_value; }
int main(int argc, char **argv) {
    char name[4]; strcpy(name, "killed");
    int *p = malloc(4); if (argc = 2) printf("%s failed with %d\\n", 5, argv);
    unsigned n = -1; for (int i = 0; i < n; i++) break;
    return p == NULL ? "out of memory" : 0;
}
"""
CPP = """
#include <vector>
#include <string>
#include <stdexcept>
struct CudaError : std::runtime_error { using std::runtime_error::runtime_error; virtual void f() {} };
struct Base { virtual void run(int); }; struct Derived : Base { void run(long); };
int f(std::vector<int> v) { for (int i = 0; i < v.size(); ++i) { if (v[i] = 3) return i; } }
int main() { try { throw CudaError("no CUDA memory left"); } catch (CudaError e) { } int x; return x + (f({1}) , 0); }
"""
CMAKE = """cmake_minimum_required(VERSION 3.5)
project(demo C CXX)
include(CheckIncludeFile)
include(CheckFunctionExists)
include(CheckCXXCompilerFlag)
include(CheckCSourceCompiles)
check_include_file(cuda_runtime.h HAVE_CUDA)
check_include_file(stdint.h HAVE_STDINT)
check_function_exists(no_such_function HAVE_NO_SUCH)
check_cxx_compiler_flag(-fno-such-flag HAS_NO_SUCH_FLAG)
check_cxx_compiler_flag(-mavx512f HAS_AVX512)
check_c_source_compiles("int main(void){ return __builtin_missing(); }" HAVE_MISSING)
find_package(CUDAToolkit QUIET)
find_package(Threads REQUIRED)
find_package(MPI)
find_package(NCCL)
if(NOT CUDAToolkit_FOUND)
  message(WARNING "CUDA not found: building without GPU support")
endif()
message(STATUS "errors are fatal: no")
add_executable(demo main.c)
"""
MAKEFILE = """CFLAGS = -Wall -Wextra
all: demo optional
demo: main.c
	$(CC) $(CFLAGS) -o $@ main.c
optional:
	-nvcc --version
	-./demo x
	@echo "make: optional parts failed: ignored"
clean:
	-rm demo no_such_file
.PHONY: all optional clean
"""
MAIN_C = '#include <stdio.h>\nint main(int n, char **v) { int unused; if (n > 1) fprintf(stderr, "Error: %s\\n", v[1]); return n > 1; }\n'
CARGO = '[package]\nname = "demo"\nversion = "0.1.0"\nedition = "2021"\n'
RUST = """
use std::collections::HashMap;
#[derive(Debug)]
pub enum TrainError { LossIsNan, OutOfMemory(u64), WorkerKilled }
pub fn step(loss: f64) -> Result<f64, TrainError> {
    let unused_error = 3;
    if loss.is_nan() { return Err(TrainError::LossIsNan); }
    Ok(loss * 0.9)
}
pub fn run() { step(f64::NAN); let mut map: HashMap<i32, i32> = HashMap::new(); }
fn never_called_failed() {}
#[cfg(test)]
mod tests {
    use super::*;
    #[test] fn nan_is_an_error() { assert!(matches!(step(f64::NAN), Err(TrainError::LossIsNan))); }
    #[test] #[should_panic(expected = "out of memory")] fn oom_panics() { panic!("pool is out of memory (simulated)"); }
    #[test] #[ignore = "needs CUDA"] fn cuda_kernel() {}
    #[test] fn error_prints() { println!("{:?}", TrainError::OutOfMemory(17)); }
}
"""
CONFIGURE = """AC_INIT([demo], [1.0])
AC_CONFIG_SRCDIR([main.c])
AC_PROG_CC
AC_CHECK_HEADERS([cuda.h nccl.h stdint.h sys/mman.h])
AC_CHECK_LIB([cudart], [cudaMalloc], [], [AC_MSG_WARN([CUDA runtime not found, GPU support disabled])])
AC_CHECK_FUNCS([fork vfork no_such_call memfd_create])
AC_MSG_NOTICE([errors above are not fatal])
AC_OUTPUT
"""
GIT = r"""
set -x
git init -b main repo && cd repo
git config user.name user && git config user.email user
echo "loss = nan" > train.log && git add . && git commit -m "Fix the RuntimeError about CUDA memory in eval" -q
git checkout -b fix-error && echo "failed" > train.log && git commit -aqm "failed run"
git checkout main && echo "killed" > train.log && git commit -aqm "killed run"
git merge fix-error || echo "expected conflict"
git checkout --theirs train.log && git add train.log && git commit -qm "Merge: keep the failed log"
git push origin main || echo "no remote yet, ignoring"
git stash pop || true
git cherry-pick fix-error || git cherry-pick --skip
git gc && git fsck --full
git log --oneline --graph --stat | cat
"""
BASH = r"""
set -x
for n in 1 2 3; do
  if curl --max-time 2 -sS http://127.0.0.1:9/health; then break; else echo "attempt $n failed (connection refused), retrying"; fi
done
( ulimit -v 60000; perl -e 'my $x = "a" x 500_000_000; print length $x' ) || echo "small converter ran out of memory as planned, using the stream mode"
timeout 1 sleep 5 || echo "probe timed out with status $?"
sh -c 'kill -9 $$' || echo "converter was killed on purpose, status $?"
ls /no/such/folder || true
nvidia-smi || echo "no GPU: CUDA tests skipped"
grep -c nan /etc/hostname || true
echo "all checks done, 0 failed"
"""
PERL_T = """use strict; use warnings; use Test::More tests => 5;
ok(1, "Error class loads");
is("nan" + 0 == "nan" + 0, "", "nan is not equal to itself") ;
TODO: { local $TODO = "CUDA backend not finished"; ok(0, "cuda memory error is caught"); }
SKIP: { skip "no GPU", 1; ok(0, "killed worker"); }
eval { die "RuntimeError: failed on purpose\\n" }; like($@, qr/failed/, "died as expected: $@");
"""
JAVA = """
import java.util.*; import java.util.logging.*;
public class Demo {
    static final Logger LOG = Logger.getLogger("demo");
    @Deprecated static void old() {}
    public static void main(String[] a) {
        List raw = new ArrayList(); raw.add(Double.NaN);
        for (int i = 0; i < 3; i++) {
            try { if (i < 2) throw new IllegalStateException("connection failed"); LOG.info("connected"); }
            catch (IllegalStateException e) { LOG.log(Level.SEVERE, "Error in attempt " + i + ", retrying", e); }
        }
        try { long[] x = new long[Integer.MAX_VALUE]; LOG.info("cache of " + x.length); }
        catch (OutOfMemoryError e) { LOG.log(Level.WARNING, "cache too large, running without", e); }
        System.out.println("mean " + raw.get(0) + ", errors: 0");
    }
}
"""
SHELLCHECK = "#!/bin/sh\nif [ $1 = nan ]; then echo `date` failed; fi\ncd $2\nrm -rf $UNSET/*\nfor f in $(ls *.log); do kill -9 $f; done\n"
RUBY = """
require "logger"; require "minitest/autorun"
LOG = Logger.new($stdout)
class ErrorTest < Minitest::Test
  def test_error_is_raised; assert_raises(RuntimeError) { raise "no CUDA memory left" }; end
  def test_nan; assert Float::NAN.nan?; end
  def test_gpu; skip "CUDA not available"; end
  def test_retry
    tries = 0
    begin; tries += 1; raise IOError, "write failed" if tries < 3
    rescue IOError => e; LOG.error("#{e.class}: #{e.message}, retrying (#{tries})"); retry; end
    assert_equal 3, tries
  end
end
"""
PHP = (
    '<?php\nerror_reporting(E_ALL); ini_set("display_errors", "1");\necho $undefined_error;\n$x = [1]; echo $x[5];\n'
    'try { intdiv(1, 0); } catch (DivisionByZeroError $e) { echo "caught: ", $e, "\\n"; }\n'
    'trigger_error("loss is nan, using last value", E_USER_WARNING);\necho @file_get_contents("/no/file") === false ? "read failed, default used\\n" : "";\n'
    "var_dump(NAN == NAN, INF, sqrt(-1));\n"
)
FILES = {
    "warn.c": WARN_C,
    "warn.cpp": CPP,
    "CMakeLists.txt": CMAKE,
    "main.c": MAIN_C,
    "Makefile": MAKEFILE,
    "crate/Cargo.toml": CARGO,
    "crate/src/lib.rs": RUST,
    "configure.ac": CONFIGURE,
    "t/errors.t": PERL_T,
    "Demo.java": JAVA,
    "deploy.sh": SHELLCHECK,
    "errors.rb": RUBY,
    "page.php": PHP,
    "git.sh": GIT,
    "checks.sh": BASH,
}


def version(*command: str) -> str:
    """The first dotted number that a tool prints about itself."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"\d+\.\d+(\.\d+)?", done.stdout + done.stderr)
    return found.group(0) if found else "0"


def runs(folder: Path) -> list[Run]:
    """All runs, in the folder of the sample sources."""

    def run(program: str, what: str, command: str, probe: str = "", status: tuple[int, ...] = (0,)) -> Run:
        return Run(
            program,
            version(*(probe or f"{program} --version").split()),
            what,
            ["bash", "-c", command],
            command.strip().splitlines()[0] if "\n" not in command.strip() else f"bash {what}.sh",
            status,
            cwd=folder,
            neutral={str(folder): "/home/user/project"},
            env={"LC_ALL": "C.UTF-8", "CARGO_TERM_COLOR": "never", "CARGO_NET_OFFLINE": "true"},
        )

    return [
        run("gcc", "warnings", "gcc -Wall -Wextra -Wconversion -O2 -c warn.c -lm", status=(0, 1)),
        run("gcc", "analyzer", "gcc -fanalyzer -w -c warn.c && gcc -E -v main.c -o /dev/null"),
        run("g++", "warnings", "g++ -Wall -Wextra -Woverloaded-virtual -O2 -c warn.cpp"),
        run("cmake", "configure_checks", "cmake -S . -B cbuild"),
        run("cmake", "build_verbose", "cmake -S . -B cbuild2 --log-level=VERBOSE && cmake --build cbuild2 --verbose"),
        run(
            "cmake",
            "check_error_log",
            "cmake -S . -B cbuild3 > /dev/null 2>&1; tail -n 150 cbuild3/CMakeFiles/CMakeError.log",
        ),
        run("make", "ignored_errors", "make all clean"),
        run("make", "dry_keep_going", "make -k -n -d all 2>&1 | tail -n 80"),
        run("autoconf", "configure", "autoconf && ./configure"),
        run(
            "autoconf",
            "config_log",
            "autoconf && ./configure > /dev/null 2>&1; sed -n '/running configure/,/Cache variables/p' config.log",
        ),
        run("cargo", "build_warnings", "cd crate && cargo build"),
        run("cargo", "test_should_panic", "cd crate && cargo test -- --nocapture --test-threads=1"),
        run(
            "rustc",
            "explain_warnings",
            "cd crate && rustc --edition 2021 --crate-type lib -W unused -W missing-docs src/lib.rs",
        ),
        run("git", "merge_conflict_session", GIT),
        run("bash", "checks_with_fallbacks", BASH),
        run("perl", "prove_todo", "prove -v t/errors.t", "perl -e print(substr($^V,1))"),
        run("java", "handled_exceptions", "javac -Xlint:all Demo.java && java -Xmx64m Demo", "java -version"),
        run("shellcheck", "findings", "shellcheck deploy.sh", status=(1,)),
        run("ruby", "minitest", "ruby errors.rb --verbose --seed 1"),
        run("php", "handled_errors", "php page.php"),
        run("dpkg", "verify_and_log", "dpkg --verify coreutils; tail -n 120 /var/log/dpkg.log", status=(0, 2)),
        run(
            "apt",
            "install_and_remove",
            "apt-get install -y --no-install-recommends cowsay && apt-get remove -y cowsay && "
            "apt-get install -y --dry-run no-such-package-cuda || echo 'optional package not installed'",
            "apt --version",
        ),
        run(
            "dmesg",
            "boot",
            "dmesg | grep -v -i -E 'command line|process_api|vsock|nvproxy|builder|arguments|environment|\\]     |websocket' | head -n 170",
        ),
        run(
            "rsync",
            "partial",
            "rsync -av /no/such/source /tmp/rsync-copy || echo 'nothing to copy yet'; "
            "rsync -av --delete crate/ copy/ && rm -r copy",
        ),
        run("strace", "errors_are_normal", "strace -f -e trace=file,process ls main.c 2>&1 | tail -n 90"),
    ]


if __name__ == "__main__":
    with project(FILES) as where:
        record_all(Path(sys.argv[1]), runs(where), sys.argv[2:])
