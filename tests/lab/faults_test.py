"""Runs that are killed, stopped, started at once and left without room, at random times.

usage: [BCOS_FAULTS=100] faults_test.py BCOS

A few faults of each kind; BCOS_FAULTS is how many.
"""

from __future__ import annotations

import os
import random
import shlex
import signal
import subprocess
import time
import unittest

from train_runs import PROGRAM, TrainTest, end, environment

COUNT = int(os.environ.get("BCOS_FAULTS", "3"))

#: Saves so often that many faults fall into one.
OFTEN = ("--steps", "240", "--checkpoint-every", "3")


def can_mount() -> bool:
    words = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


class Faults(TrainTest):
    def setUp(self) -> None:
        super().setUp()
        self.chance = random.Random(7)
        self.fine(*self.tiny("whole", *OFTEN, "-q"))

    def expect_whole(self, name: str) -> None:
        """The run ends as if nothing had happened, and leaves nothing half written."""
        self.fine(*self.tiny(name, *OFTEN))
        self.assertEqual(self.last_weights("whole"), self.last_weights(name))
        checkpoints = self.runs / name / "checkpoints"
        self.assertTrue(all(path.name.startswith("step-") for path in checkpoints.iterdir()))
        self.assertEqual(list(checkpoints.rglob("*.tmp-*")), [])

    def test_killed_runs_end_as_if_they_had_not_been(self) -> None:
        run_number = 0
        for _ in range(COUNT):
            process = subprocess.Popen(
                [*PROGRAM, *self.tiny(f"cut-{run_number}", *OFTEN)],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=environment(),
            )
            time.sleep(self.chance.uniform(0.2, 1.6))
            process.kill()
            _, errors = process.communicate(timeout=60)
            self.assertEqual(errors, b"")
            if process.returncode == 0:
                self.expect_whole(f"cut-{run_number}")
                run_number += 1
        self.expect_whole(f"cut-{run_number}")

    def test_stopped_runs_save_say_so_and_go_on(self) -> None:
        codes = {signal.SIGTERM: 0, signal.SIGINT: 130}
        for kind, code in codes.items():
            name = f"stopped-{kind}"
            for _ in range(COUNT):
                process = self.training(self.tiny(name, *OFTEN))
                time.sleep(self.chance.uniform(0, 0.4))
                process.send_signal(kind)
                rest, errors = process.communicate(timeout=60)
                self.assertEqual(errors, b"")
                saved = b"saved; the same command goes on" in rest
                # One that is over says nothing of the signal, or has already stopped listening.
                self.assertIn(process.returncode, (code,) if saved else (0, -kind))
                if not saved:
                    self.expect_whole(name)
                    name += "x"
            self.expect_whole(name)

    def test_a_second_signal_ends_a_run_at_once(self) -> None:
        for i in range(COUNT):
            process = self.training(self.tiny(f"twice-{i}", *OFTEN))
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
            at_once = (128 + signal.SIGINT, 128 + signal.SIGTERM)
            # On a busy machine it may have saved and gone between the two.
            self.assertIn(process.returncode, (*at_once, -signal.SIGTERM))
            self.expect_whole(f"twice-{i}")

    def test_of_many_processes_one_has_the_run(self) -> None:
        arguments = [*PROGRAM, *self.tiny("one", "--steps", "1000000")]
        processes = []
        for _ in range(max(3, COUNT // 2)):
            processes.append(
                subprocess.Popen(
                    arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment()
                )
            )
            self.addCleanup(end, processes[-1])
        deadline = time.monotonic() + 20 * len(processes)
        while len(running := [p for p in processes if p.poll() is None]) > 1:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        self.assertEqual(len(running), 1)
        for process in processes:
            if process is not running[0]:
                _, errors = process.communicate()
                self.assertEqual(process.returncode, 1)
                self.assertIn(f"process {running[0].pid}".encode(), errors)
                self.assertEqual(errors.count(b"\n"), 1)

    @unittest.skipUnless(can_mount(), "needs user namespaces")
    def test_full_disks_keep_what_there_was_and_the_run_goes_on(self) -> None:
        disk, weights = self.folder / "disk", self.folder / "weights"
        disk.mkdir()
        command = shlex.join(map(str, [*PROGRAM, *self.tiny("full", *OFTEN, "--out", str(disk))]))
        last = f"{disk}/full/checkpoints/step-00000240/model.safetensors"
        wanted = self.last_weights("whole")
        sizes = range(4, 404, 4)
        full = 0
        for size in sizes if COUNT >= len(sizes) else self.chance.sample(sizes, COUNT):
            script = (
                f"mount -t tmpfs -o size={size}k none {disk} || exit 9; {command} >/dev/null; "
                f"echo code $? >&2; mount -o remount,size=64m {disk}; {command} >/dev/null "
                f"&& cp {last} {weights}"
            )
            result = subprocess.run(
                ["unshare", "-rm", "sh", "-c", script],
                capture_output=True,
                text=True,
                timeout=120,
                env=environment(),
                check=False,
            )
            with self.subTest(size=size, said=result.stderr):
                self.assertEqual(result.returncode, 0)
                self.assertEqual(weights.read_bytes(), wanted)
                weights.unlink()
                if "code 0" not in result.stderr:
                    full += 1
                    self.assertRegex(result.stderr, r"\Abcos: \[[a-z_:]+\] [^\n]+\ncode 1\n\Z")
                    self.assertIn(str(disk), result.stderr)
                    self.assertRegex(result.stderr, "No space left|free bytes")
        self.assertGreater(full, 0)


if __name__ == "__main__":
    unittest.main()
