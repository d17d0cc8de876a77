"""How a log ends: a killed training is distinguished from one that ended, and nothing is claimed without a sign."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import WRITTEN_SECONDS, from_path, from_stream, from_text
from troubleshooter.report.markdown import markdown
from troubleshooter.report.words import health

ROOT = Path(__file__).parent.parent.parent
BREAKS_OFF = "training-log-breaks-off"
KILL = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"


def trainer(count: int, quote: str = "") -> str:
    """Records of a Hugging Face Trainer, 100 to an epoch, of two epochs."""
    values = ((2.0 - 0.01 * n, 1.1 + 0.01 * n, 5e-5 * (1 - n / 200), n / 100) for n in range(count))
    row = "{{'loss': {q}{:.4f}{q}, 'grad_norm': {q}{:.4f}{q}, 'learning_rate': {q}{:.3g}{q}, 'epoch': {q}{:.2f}{q}}}\n"
    return "".join(row.format(*value, q=quote) for value in values)


BAR = " {p}%|███       | {n}/250 [00:56<07:37,  2.05s/it]\n"
SUMMARY = "{'train_runtime': 42.3, 'train_samples_per_second': 1.9, 'train_loss': 1.88, 'epoch': 2.0}\n"
KILLED = {
    "trainer": trainer(5),
    "trainer-5": trainer(5, "'"),
    "trainer-with-bar": BAR.format(p=4, n=10) + trainer(1) + BAR.format(p=10, n=27),
    "bar-before-the-first-record": "***** Running training *****\n  Num examples = 1,000\n" + BAR.format(p=1, n=3),
    "warnings-below": trainer(3) + "/opt/x.py:12: UserWarning: lr_scheduler called first\n  warnings.warn(\n",
    "checkpoint-being-saved": trainer(4) + "Saving model checkpoint to out/checkpoint-500\nConfiguration saved in out/checkpoint-500/config.json\n",
    "evaluated-last": trainer(4) + "{'eval_loss': 1.91, 'eval_runtime': 2.1, 'epoch': 0.04}\n",
    "resumed-and-killed-again": trainer(3) + SUMMARY + trainer(4),
    "json-lines": '{"current_steps": 10, "total_steps": 180, "loss": 1.43, "lr": 4.9e-05, "epoch": 0.16}\n' * 2,
    "megatron": " iteration      100/   20000 | consumed samples: 25600 | lm loss: 8.1E+00 | grad norm: 2.3 |\n"
    " iteration      200/   20000 | consumed samples: 51200 | lm loss: 7.4E+00 | grad norm: 1.9 |\n",
    "lightning": "Epoch 1:  34%|███▍      | 136/400 [01:05<02:07,  2.07it/s, v_num=3, train_loss=2.020]\n",
    "lightning-rich": "Epoch 0/4  ━━━━━━━━━━╸━━━━━━━━━━━ 34/100 0:00:10 • 0:00:20 3.41it/s v_num: 0.000 train_loss: 2.12\n",
    "own-loop-with-total": "epoch 1/3 step 100/900 loss 2.1\nepoch 1/3 step 200/900 loss 1.9\n",
    "time-stamped": "".join(f"2026-03-02 11:2{n}:31,120 - INFO - {row}" for n, row in enumerate(trainer(3).splitlines(True))),
}
ENDED = {
    "summary": trainer(5) + SUMMARY,
    "summary-then-more": trainer(5) + SUMMARY + "sample: the river\n" * 30,
    "bar-full": "Epoch 2: 100%|██████████| 400/400 [03:12<00:00,  2.08it/s, v_num=3, train_loss=2.310]\n",
    "saved": "step 1/9 loss 2.0\nstep 2/9 loss 1.9\nmodel saved to out\n",
    "stopped-early": "epoch 3/10 step 100/100 loss 0.4\nearly stopping after 3 epochs\n",
    "said-done": "step 99 loss 0.4\ndone\n",
    "said-in-chinese": "step 1/9 loss 2.0\n训练完成\n",
    "counters-at-their-totals": "Epoch 3/3 step 80/100 loss 1.1\nEpoch 3/3 step 100/100 loss 1.0\n",
    "printed-every-20-of-90": "step 60/90 loss 1.2\nstep 80/90 loss 1.1\n",
    "last-epoch-counted-from-0": "Epoch [1/3] loss 1.2\nEpoch [2/3] loss 1.1\n",
}
UNKNOWN = {
    "own-loop": "step 98 loss 0.412\nstep 99 loss 0.410\nstep 100 loss 0.408\n",
    "one-step": "step 1\n",
    "no-training": "reading the table\nrow 1\nrow 2\n",
    "picked-lines": trainer(3) + "sample: the river\nscore 0.3\n",
    "nothing-left-of-the-rate": trainer(3) + "{'loss': 1.9, 'grad_norm': 1.0, 'learning_rate': 0.0, 'epoch': 1.7}\n",
    "a-whole-epoch": trainer(3) + "{'loss': 1.9, 'grad_norm': 1.0, 'learning_rate': 2e-05, 'epoch': 1.0}\n",
}


@pytest.mark.parametrize("name", sorted(KILLED))
def test_a_training_that_breaks_off_gets_its_own_answer(tool: Diagnoser, name: str) -> None:
    report = tool.report([from_text("torch 2.13.0\n" + KILLED[name])])
    assert [(d.id, d.confidence) for d in report.diagnoses] == [(BREAKS_OFF, "possible")]
    assert report.exit_code == 3
    assert report.ending["state"] == "in-training"
    assert report.diagnoses[0].evidence[0].line == report.ending["line"]
    assert json.loads(json.dumps(report.to_dict()))["ending"]["state"] == "in-training"


@pytest.mark.parametrize(("state", "name"), [("ended", n) for n in sorted(ENDED)] + [("unknown", n) for n in sorted(UNKNOWN)])
def test_a_run_that_ended_or_may_have_is_no_failure(tool: Diagnoser, state: str, name: str) -> None:
    report = tool.report([from_text((ENDED if state == "ended" else UNKNOWN)[name])])
    assert (report.exit_code, report.diagnoses, report.ending["state"]) == (0, [], state)


def test_only_a_shown_end_is_called_well(tool: Diagnoser) -> None:
    said = {name: health(tool.report([from_text(text)])) for name, text in {**ENDED, **UNKNOWN}.items()}
    assert all(said[name].startswith("Nothing wrong found (read ") for name in ENDED)
    assert all(said[name].startswith("No failure in what was read (") for name in UNKNOWN)
    assert said["one-step"] == "No failure in what was read (1 line); the log does not show how the run ended."
    assert "已读部分未发现失败" in health(tool.report([from_text(UNKNOWN["one-step"])], lang="zh"))
    assert said["one-step"] in markdown(tool.report([from_text(UNKNOWN["one-step"])]))


def test_a_file_that_is_still_written_to_is_no_failure(tool: Diagnoser, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(KILLED["trainer"], encoding="utf-8")
    report = tool.report(from_path(log))
    assert (report.exit_code, report.ending["state"]) == (0, "written")
    assert "may be going on" in health(report)
    with log.open("rb") as stream:
        assert tool.report([from_stream(stream)]).ending["state"] == "written"
    old = time.time() - 2 * WRITTEN_SECONDS
    os.utime(log, (old, old))
    assert tool.report(from_path(log)).exit_code == 3
    with log.open("rb") as stream:
        assert tool.report([from_stream(stream)]).exit_code == 3


def test_an_excerpt_says_nothing_of_its_end(tool: Diagnoser) -> None:
    source = from_text(KILLED["trainer"])
    source.excerpt = True
    assert tool.report([source]).exit_code == 0
    assert tool.report([from_text(KILLED["trainer"])], whole=False).ending["state"] == "unknown"


def test_ranks_of_which_one_came_to_the_end_did_not_break_off(tool: Diagnoser) -> None:
    assert tool.report([from_text(KILLED["trainer"]), from_text(ENDED["saved"])]).exit_code == 0
    assert tool.report([from_text(KILLED["trainer"]), from_text("Successfully installed x-1.0\n")]).exit_code == 3


@pytest.mark.parametrize(
    "failure",
    ["Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nQuuxError: the flux is gone\n", "Killed\n", "Segmentation fault (core dumped)\n"],
    ids=["exception", "killed", "segfault"],
)  # fmt: skip
def test_a_failure_that_is_seen_comes_instead(tool: Diagnoser, failure: str) -> None:
    report = tool.report([from_text(KILLED["trainer"] + failure)])
    assert BREAKS_OFF not in [d.id for d in report.diagnoses]
    assert report.exit_code in (1, 3)
    assert (report.diagnoses or report.unexplained)


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("[1]+  Exit 7                  python train.py", BREAKS_OFF),
        ("srun: error: node17: task 0: Exited with exit code 7", BREAKS_OFF),
        ("Command exited with non-zero status 7", BREAKS_OFF),
        ("make: *** [Makefile:3: train] Error 7", BREAKS_OFF),
        ("train.sh: line 4:  4711 Killed                  python train.py", "host-ram-oom-sigkill"),
        ("container exited with code 137", "process-killed-137"),
        ("  exitcode  : -9 (pid: 4711)", "host-ram-oom-sigkill"),
        ("train.sh: line 4:  4711 Segmentation fault      (core dumped) python train.py", "segmentation-fault"),
        ("Command terminated by signal 11", "segmentation-fault"),
        ("exit code: 139", "segmentation-fault"),
    ],
)
def test_the_status_that_a_shell_or_launcher_printed_is_told(tool: Diagnoser, line: str, first: str) -> None:
    report = tool.report([from_text(f"step 10 loss 2.1\nepoch 1/3 step 20/900 loss 1.9\n{line}\n")])
    assert report.diagnoses
    assert report.diagnoses[0].id == first


@pytest.mark.parametrize(("status", "program"), [(137, KILL), (7, "raise SystemExit(7)")])
def test_a_pipe_from_a_process_that_died_is_not_called_well(status: int, program: str) -> None:
    def answer(printed: str) -> str:
        child = subprocess.Popen(
            [sys.executable, "-c", f"print({printed!r}, flush=True); {program}"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        done = subprocess.run(
            [sys.executable, "-m", "troubleshooter", "--quiet"], stdin=child.stdout, capture_output=True, text=True, cwd=ROOT, check=False
        )
        assert child.wait() in (status, 128 - status)
        return f"{done.returncode} {' '.join(done.stdout.split())}"

    assert answer("step 1").startswith("0 No failure in what was read (1 line); whether the process ended well cannot be seen from a pipe: ")
    assert answer(KILLED["trainer"]).startswith("3 possible: The training stops in the middle, and the log does not say why")


def test_no_healthy_log_breaks_off(tool: Diagnoser) -> None:
    paths = [*(ROOT / "tests" / "healthy").rglob("*.log")]
    assert len(paths) > 150
    assert [p for p in paths if tool.observe(from_path(p), whole=True).ending.state in ("in-training", "failed")] == []


def test_a_stream_without_a_number_is_read(tool: Diagnoser) -> None:
    assert tool.report([from_stream(io.BytesIO(b"step 1\n"))]).input["piped"] is False


def test_repaired_runs_of_the_lab_do_not_break_off(tool: Diagnoser, cases: Callable[[], Path]) -> None:
    folder = ROOT.parent / "shared" / "lab" / "logs"
    if not folder.is_dir():
        pytest.skip("the logs of the lab are not at hand")
    found = [p for p in folder.rglob("*.log") if tool.observe(from_path(p), whole=True).ending.state == "in-training"]
    assert found == []


@pytest.mark.parametrize(("rate", "epoch"), [("6e-\x0807", "0.02"), ("1e+-", "0.02"), ("6e-07", "1.2.3"), ("..", "0.02"), ("6e-07", "٣")])
def test_a_broken_number_of_a_record_is_no_error(tool: Diagnoser, rate: str, epoch: str) -> None:
    record = "{'loss': 0.38, 'grad_norm': 0.1, 'learning_rate': %s, 'epoch': %s}\n"
    report = tool.report([from_text(record % ("7e-07", "0.01") + record % (rate, epoch))])
    assert report.input["lines"] == 2
