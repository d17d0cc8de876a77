"""JavaScript tools on a small project: installs with warnings, tests with errors in their names, bundlers, linters."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from recorder import Run, project, record_all

PACKAGE = {
    "name": "demo",
    "version": "1.0.0",
    "private": True,
    "scripts": {"test": "mocha test.cjs", "fails": "exit 3"},
    "dependencies": {"request": "2.88.2", "uuid": "3.4.0"},
    "engines": {"node": ">=99"},
}
TOOLS = [
    "mocha@10",
    "eslint@8",
    "typescript@5",
    "webpack@5",
    "webpack-cli@5",
    "jest@29",
    "esbuild@0.21.5",
    "prettier@3",
]
FILES = {
    "test.cjs": "const assert = require('assert');\n"
    "describe('Error handling', () => {\n"
    "  it('RuntimeError: a killed worker is reported', () => { assert.throws(() => { throw new Error('killed'); }); });\n"
    "  it('NaN loss is not equal to itself', () => assert.ok(NaN !== NaN));\n"
    "  it.skip('CUDA kernel', () => {});\n"
    "  it('retries a failed fetch', () => { console.error('Error: fetch failed, retrying (1/3)'); });\n"
    "  it('todo: out of memory');\n});\n",
    "jest.test.js": "describe('TypeError paths', () => {\n"
    "  test('nan is kept', () => { console.warn('loss is NaN'); expect(NaN).toBeNaN(); });\n"
    "  test.failing('known bug: failed uploads are lost', () => { expect(1).toBe(2); });\n"
    "  test.todo('CUDA out of memory');\n"
    "  test('error is logged', () => { console.error(new Error('upload failed, retry')); });\n});\n",
    "src/index.js": "import big from './big.js';\nimport('./optional-cuda.js').catch(e => console.error('Error', e));\n"
    "var unused = NaN; if (unused == NaN) { debugger; }\nexport default eval('big');\n",
    "src/big.js": "export default '" + "x" * 300000 + "';\n",
    "src/optional-cuda.js": "export const failed = () => { throw new Error('no CUDA'); }\n",
    "src/app.ts": "interface Run { loss: number; error?: Error }\nconst r: Run = { loss: 'nan' };\nfunction f(x: any): number "
    "{ if (x) { return r.error.message; } }\nasync function g() { return missing(); }\nlet killed = r.lossy;\n",
    ".eslintrc.json": json.dumps(
        {
            "root": True,
            "extends": "eslint:recommended",
            "env": {"node": True, "es2022": True},
            "parserOptions": {"sourceType": "module", "ecmaVersion": 2022},
            "rules": {"no-eval": "warn", "eqeqeq": "warn"},
        }
    ),
    "events.cjs": "const fs = require('fs'), http = require('http');\n"
    "process.emitWarning('old option', 'DeprecationWarning');\nnew Buffer(3);\n"
    "process.on('uncaughtException', (e) => console.error('handled:', e));\n"
    "setTimeout(() => { throw new TypeError(\"Cannot read properties of undefined (reading 'loss')\"); }, 50);\n"
    "http.get('http://127.0.0.1:9/', () => {}).on('error', e => console.error('request failed, retrying later:', e));\n"
    "fs.promises.readFile('/no/file').catch(e => console.warn('using defaults:', e.message));\n"
    "const many = new (require('events'))(); for (let i = 0; i < 12; i++) many.on('x', () => {});\n"
    "try { JSON.parse('{nan'); } catch (e) { console.error(e); }\n"
    "try { 'x'.repeat(2 ** 30); } catch (e) { console.error('RangeError handled:', e.message); }\n",
}


def runs(folder: Path) -> list[Run]:
    """All runs, in the folder of the sample project."""

    def version(tool: str) -> str:
        text = subprocess.run(tool.split(), cwd=folder, capture_output=True, text=True, check=False).stdout
        return next((word.lstrip("v") for word in text.split() if word.lstrip("v")[:1].isdigit()), "0").rstrip(",")

    def run(program: str, probe: str, what: str, command: str, status: tuple[int, ...] = (0,)) -> Run:
        shown = command.replace("npx --no-install ", "")
        return Run(
            program,
            version(probe),
            what,
            ["bash", "-c", command],
            shown,
            status,
            cwd=folder,
            env={"NO_COLOR": "1", "npm_config_userconfig": os.devnull, "npm_config_fund": "false"},
            neutral={str(folder): "/home/user/project"},
        )

    npx = "npx --no-install "
    return [
        run(
            "npm",
            "npm --version",
            "install_deprecated",
            "mkdir fresh && cp package.json fresh && cd fresh && npm install --loglevel=http 2>&1",
        ),
        run(
            "npm",
            "npm --version",
            "optional_failures",
            "npm run fails || echo 'expected, see above'; npm ls left-pad || true; npm pkg get version; "
            "npm install --no-save no-such-package-failed-cuda-nan || echo 'optional package left out'",
        ),
        run(
            "npm",
            "npm --version",
            "verbose_dry_run",
            "cd fresh && npm install --dry-run --loglevel verbose 2>&1 | tail -n 60",
        ),
        run("mocha", npx + "mocha --version", "error_names", npx + "mocha test.cjs"),
        run("jest", npx + "jest --version", "failing_on_purpose", npx + "jest --verbose --rootDir ."),
        run("eslint", npx + "eslint --version", "findings", npx + "eslint src/index.js src/optional-cuda.js", (1,)),
        run(
            "tsc", npx + "tsc --version", "type_errors", npx + "tsc --strict --noEmit --pretty false src/app.ts", (1, 2)
        ),
        run(
            "webpack",
            "node -p require('webpack/package.json').version",
            "size_warnings",
            npx + "webpack --mode production",
        ),
        run(
            "esbuild",
            npx + "esbuild --version",
            "warnings",
            npx + "esbuild src/index.js --bundle --outfile=o.js --log-level=debug",
        ),
        run(
            "prettier",
            npx + "prettier --version",
            "check",
            npx + "prettier --check test.cjs events.cjs src/app.ts",
            (1,),
        ),
        run("node", "node --version", "handled_events", "node events.cjs"),
        run("node", "node --version", "builtin_test_runner", "node --test --test-reporter=spec node.test.mjs"),
    ]


if __name__ == "__main__":
    FILES["node.test.mjs"] = (
        "import test from 'node:test';\nimport assert from 'node:assert';\n"
        "test('Error: failed attempts', async t => { await t.test('killed child', () => {}); });\n"
        "test('CUDA', { skip: 'no GPU' }, () => {});\n"
        "test('nan', { todo: 'known' }, () => { assert.strictEqual(NaN, 0); });\n"
    )
    with project({**FILES, "package.json": json.dumps(PACKAGE)}) as where:
        os.environ.pop("NODE_OPTIONS", None)
        subprocess.run(
            ["npm", "install", "--no-save", "--silent", "--no-fund", *TOOLS], cwd=where, check=True, timeout=500
        )
        record_all(Path(sys.argv[1]), runs(where)[3:] + runs(where)[:3], sys.argv[2:])
